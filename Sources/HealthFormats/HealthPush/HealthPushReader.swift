import Foundation
import HealthModel

/// Reads the records of one day file.
struct HealthPushReader {
  let key: String
  let modified: Timestamp
  let repairsUnits: Bool
  /// The key of the file to which each characteristic belongs. Characteristics in other files are skipped, so that
  /// reading these files alone identifies the person.
  let traits: [SampleType: String]
  private let decoder = JSONDecoder()

  init(key: String, modified: Timestamp, repairsUnits: Bool, traits: [SampleType: String]) {
    (self.key, self.modified, self.repairsUnits, self.traits) = (key, modified, repairsUnits, traits)
  }

  private static let header = [
    "uuid", "startDate", "endDate", "tzOffset", "value", "unit", "aggregation", "sourceName", "sourceBundleId",
    "schemaVersion",
  ]

  /// Reads a file.
  ///
  /// - Parameter chunkSize: the number of bytes read at a time.
  /// - Throws: ``SampleFileError`` if the rest of the file cannot be read, or what the collector's closure throws.
  mutating func read(
    _ source: any ByteSource, path: String, chunkSize: Int = 256 << 10, into collector: inout SampleCollector
  ) throws {
    if path.hasSuffix(".csv") {
      return try readTable(CSVScanner(source: source, path: path, chunkSize: chunkSize), into: &collector)
    }
    var scanner = JSONScanner(source: source, path: path, chunkSize: chunkSize)
    if path.hasSuffix(".json") {
      try scanner.beginArray()
      while try scanner.nextElement() { try readValue(&scanner, into: &collector) }
      return try scanner.end()
    }
    while try scanner.peek() != nil { try readValue(&scanner, into: &collector) }
  }

  private func readValue(_ scanner: inout JSONScanner, into collector: inout SampleCollector) throws {
    let value = try scanner.value(limit: SampleFile.maximumSample)
    guard let record = try? decoder.decode(HealthPushRecord.self, from: Data(value.bytes)) else {
      let line = scanner.position.line
      return collector.report.skipped.add("\(key): something that is no record") { line }
    }
    // To find the line costs more than to read the record.
    try add(record, weight: value.bytes.count, into: &collector) { scanner.position.line }
  }

  private func readTable(_ scanner: consuming CSVScanner, into collector: inout SampleCollector) throws {
    guard let header = try scanner.row(limit: 10_000), header.fields.map(\.text) == Self.header else {
      throw scanner.malformed("the columns are not HealthPush's")
    }
    while let row = try scanner.row(limit: 1 << 20) {
      let line = row.at.line
      guard let record = try? HealthPushRecord(row: row.fields.map(\.text), key: key) else {
        collector.report.skipped.add("\(key): a row that is no record of its type") { line }
        continue
      }
      try add(record, weight: row.fields.reduce(0) { $0 + $1.text.utf8.count }, into: &collector) { line }
    }
  }

  private func add(
    _ record: HealthPushRecord, weight: Int, into collector: inout SampleCollector, line: () -> Int?
  ) throws {
    do {
      let (sample, isReading) = try record.sample(repairsUnits: repairsUnits, modified: modified)
      if let own = traits[sample.type], own != key {
        return collector.report.skipped.add("\(key): a characteristic that does not belong there", line: line)
      }
      try collector.add(sample, weight: weight, isReading: isReading, line: line)
    } catch let rejection as HealthPushRecord.Rejection {
      reject(rejection, in: &collector, line: line)
    }
  }

  private func reject(
    _ rejection: HealthPushRecord.Rejection, in collector: inout SampleCollector, line: () -> Int?
  ) {
    guard case .unreadable(let what) = rejection else { return }
    collector.report.skipped.add(what, line: line)
  }
}
