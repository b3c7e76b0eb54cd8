import Foundation
import HealthModel

/// Reads the table that ``SampleCSVWriter`` writes. The columns may be in any order; unknown columns are ignored.
enum SampleCSVReader {
  static func read(
    _ scanner: consuming CSVScanner, path: String, by way: SampleFile.Way, into collector: inout SampleCollector,
    _ progress: (Int64) throws -> Void
  ) throws {
    guard let header = try scanner.row(limit: SampleFile.maximumSample) else { return }
    guard scanner.hasLineEnd else { throw SampleFileError.endsEarly(path: path, at: header.at) }
    var columns: [SampleCSV.Column: Int] = [:]
    for (index, field) in header.fields.enumerated() {
      guard let column = SampleCSV.Column(rawValue: field.text) else { continue }
      guard columns.updateValue(index, forKey: column) == nil else {
        throw scanner.malformed("the column \(field.text) is there twice", at: header.at)
      }
    }
    for column in SampleCSV.required where columns[column] == nil {
      throw scanner.malformed("the column \(column.rawValue) is missing", at: header.at)
    }
    // The fast parser does not check any other set of columns.
    let isPlain = way == .fastest && header.fields.map(\.text) == SampleCSV.Column.allCases.map(\.rawValue)
    var plain = PlainSamples()
    var meter = ProgressMeter(base: 0)
    while true {
      if isPlain, let length = try scanner.plainRow({ plain.add(row: $0, to: &collector.coder) }) {
        try collector.added(length)
        try meter.update(scanner.bytesRead, progress)
        continue
      }
      guard let row = try scanner.row(limit: SampleFile.maximumSample) else { return }
      // The file was cut off in its last row.
      guard row.fields.count == header.fields.count else {
        if try scanner.row(limit: SampleFile.maximumSample) == nil, row.fields.count < header.fields.count {
          throw SampleFileError.endsEarly(path: path, at: row.at)
        }
        throw scanner.malformed("\(row.fields.count) columns instead of \(header.fields.count)", at: row.at)
      }
      let sample: Sample
      do throws(Row.Failure) {
        sample = try Row(fields: row.fields, columns: columns).sample()
      } catch {
        throw scanner.malformed("\(error.column.rawValue) is not what it should be", at: row.at)
      }
      let length = row.fields.reduce(0) { $0 + $1.text.utf8.count }
      try collector.add(sample, weight: length, line: { row.at.line })
      try meter.update(scanner.bytesRead, progress)
    }
  }

  private struct Row {
    struct Failure: Error { var column: SampleCSV.Column }

    let fields: [CSVScanner.Field]
    let columns: [SampleCSV.Column: Int]

    func sample() throws(Failure) -> Sample {
      guard let uuid = UUID(uuidString: text(.uuid) ?? "") else { throw Failure(column: .uuid) }
      return Sample(
        uuid: uuid, type: SampleType(text(.type) ?? ""), start: try instant(.start), end: try instant(.end),
        created: text(.created) == nil ? nil : try instant(.created),
        source: Source(
          name: text(.sourceName) ?? "", bundleIdentifier: text(.sourceBundle), version: text(.sourceVersion)),
        device: try json(.device, Device.self), metadata: try json(.metadata, Metadata.self) ?? [:],
        payload: try payload())
    }

    private func payload() throws(Failure) -> Payload {
      let kind = text(.payloadKind) ?? ""
      var number: Double?
      if let text = text(.value) {
        number = SampleCSV.number(text)
        guard number != nil else { throw Failure(column: .value) }
      }
      let json = text(.payload)
      if kind == "category", json == nil {
        var value: Int64?
        if let text = text(.category) {
          value = Int64(text)
          guard value != nil else { throw Failure(column: .category) }
        }
        return .category(CategoryValue(value: value))
      }
      do {
        return try Payload(kind: kind, number: number, unit: text(.unit), json: json)
      } catch {
        throw Failure(column: .payload)
      }
    }

    private func text(_ column: SampleCSV.Column) -> String? {
      guard let index = columns[column] else { return nil }
      let field = fields[index]
      return field.text.isEmpty && !field.isQuoted ? nil : field.text
    }

    private func instant(_ column: SampleCSV.Column) throws(Failure) -> Timestamp {
      guard let instant = Timestamp(iso8601: text(column) ?? "") else { throw Failure(column: column) }
      return instant
    }

    private func json<Value: Decodable>(_ column: SampleCSV.Column, _ type: Value.Type) throws(Failure) -> Value? {
      guard let text = text(column) else { return nil }
      do { return try CanonicalJSON.decode(type, text) } catch { throw Failure(column: column) }
    }
  }
}
