import HealthAppTransfer
import HealthModel

/// A file exported by the app HealthAppTransfer: JSON of version 1 or 2, or CSV.
///
/// ```swift
/// func count(_ file: HealthAppTransferFile) throws -> Int {
///   var count = 0
///   let report = try file.read { count += $0.count }
///   for (reason, finding) in report.skipped { print(finding.count, reason) }
///   return count
/// }
/// ```
///
/// Its samples have HealthKit's UUIDs. A sample that cannot be understood is skipped and counted by reason; the
/// others are imported.
public struct HealthAppTransferFile: RecordFormat {
  /// The form of a file, recognised by content, not by file name.
  public enum Form: Hashable, Sendable {
    case json, csv

    init?(_ head: FileHead) {
      switch head.form {
      case .object(let object):
        let isOfTypes = object.data?.contains { AppTypes.entry(named: $0) != nil } ?? false
        guard isOfTypes || object.metadata.map(HealthAppTransferFile.isMetadata) ?? false else { return nil }
        self = .json
      case .array(let elements, let isEnded):
        // The app writes an empty array if it has nothing to export. A sample that lacks members is recognised too;
        // the reader skips it.
        guard elements.contains(where: HealthAppTransferFile.resemblesSample) || elements.isEmpty && isEnded else {
          return nil
        }
        self = .json
      case .table(let columns):
        guard HealthAppTransferFile.isHeader(columns) else { return nil }
        self = .csv
      case .other: return nil
      }
    }
  }

  /// The form of the file, as recognised.
  public let form: Form
  private let content: FileContent

  /// The path as the person gave it, for messages.
  public var path: String { content.path }
  /// The size of the file when it was recognised, before any decompression.
  public var totalBytes: Int64 { content.size }

  init(_ form: Form, _ content: FileContent) {
    (self.form, self.content) = (form, content)
  }

  init(_ form: Form, bytes: [UInt8]) { self.init(form, FileContent(bytes)) }

  public static func recognise(_ candidate: ImportCandidate) -> HealthAppTransferFile? {
    guard let file = candidate.file, let form = Form(file.head) else { return nil }
    return HealthAppTransferFile(form, file.content)
  }

  public var road: SampleRoad { .healthAppTransfer }

  public var workBytes: Int64 { totalBytes }

  public func read(
    _ options: ReadingOptions, progress: @escaping (_ bytes: Int64) throws -> Void,
    deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    try read(progress: progress, deliver: deliver)
  }

  /// Reads the file once, in constant memory. Blocks: call it on a thread of your own.
  ///
  /// - Parameters:
  ///   - batchSize: the maximum number of samples in one batch.
  ///   - progress: called from time to time with the number of bytes read; may throw to stop.
  ///   - deliver: called with each batch of complete samples, in file order; may throw to stop.
  /// - Returns: a report. If the file ends early, everything complete before that has been delivered.
  /// - Throws: ``SampleFileError`` or ``ImportError``, or what the closures throw.
  public func read(
    batchSize: Int = 10_000, progress: @escaping (_ bytes: Int64) throws -> Void = { _ in },
    deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    try read(batchSize: batchSize, chunkSize: 256 << 10, progress: progress, deliver: deliver)
  }

  func read(
    batchSize: Int, chunkSize: Int, progress: @escaping (Int64) throws -> Void = { _ in },
    deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    let source = try content.open()
    var reader = Reader(collector: SampleCollector(size: batchSize, deliver: deliver)) { _ in
      try progress(source.position)
    }
    do {
      switch form {
      case .json: try reader.read(JSONScanner(source: source, path: path, chunkSize: chunkSize))
      case .csv: try reader.read(CSVScanner(source: source, path: path, chunkSize: chunkSize), path: path)
      }
      reader.collector.report.isComplete = true
    } catch SampleFileError.endsEarly(_, let position) {
      reader.collector.report.end = position
    }
    return try reader.collector.finish()
  }

  // MARK: Recognising

  /// Returns whether a row is the app's header.
  static func isHeader(_ names: [String]) -> Bool { names == HealthSampleDTO.Member.allCases.map(\.rawValue) }

  /// Returns whether a value is one of the app's samples, even if some members are missing.
  static func resemblesSample(_ value: JSONValue) -> Bool {
    guard case .object(let members) = value else { return false }
    return ["id", "type", "startDate", "endDate", "sourceName"].count { members[$0] != nil } >= 3
  }

  /// Returns whether a value is the metadata of a file of version 2.
  static func isMetadata(_ value: JSONValue) -> Bool {
    guard case .object(let members) = value else { return false }
    return members["formatVersion"] != nil && members["sampleCount"] != nil
  }
}

private struct Reader {
  var collector: SampleCollector
  let progress: (Int64) throws -> Void
  private var meter = ProgressMeter(base: 0)

  init(collector: SampleCollector, progress: @escaping (Int64) throws -> Void) {
    (self.collector, self.progress) = (collector, progress)
  }

  // MARK: JSON

  mutating func read(_ scanner: consuming JSONScanner) throws {
    if try scanner.peek() == UInt8(ascii: "[") {
      try samples(&scanner)
    } else {
      try scanner.beginObject()
      while let key = try scanner.nextKey() {
        guard key == "data" else {
          try scanner.skipValue()
          continue
        }
        try scanner.beginObject()
        while try scanner.nextKey() != nil { try samples(&scanner) }
      }
    }
    try scanner.end()
  }

  private mutating func samples(_ scanner: inout JSONScanner) throws {
    try scanner.beginArray()
    while try scanner.nextElement() {
      let value = try scanner.value(limit: SampleFile.maximumSample)
      let tree = try scanner.parse(value.bytes, at: value.offset)
      try add(weight: value.bytes.count, line: { scanner.position.line }) { () throws(HealthSampleDTO.Failure) in
        guard case .object(let members) = tree else { throw .malformed(.id) }
        return try HealthSampleDTO(
          { Self.text(members[$0 == .metadata ? "metadataJSON" : $0.rawValue]) },
          correlationValues: Self.numbers(members["correlationValues"]))
      }
      try meter.update(scanner.bytesRead, progress)
    }
  }

  private static func text(_ value: JSONValue?) -> String? {
    switch value {
    case .string(let text): text
    case .integer(let integer): String(integer)
    case .number(let number): "\(number)"
    case .bool(let flag): "\(flag)"
    case .null, .array, .object, nil: nil
    }
  }

  private static func numbers(_ value: JSONValue?) -> [String: Double]? {
    guard case .object(let members)? = value else { return nil }
    return members.compactMapValues { value in
      switch value {
      case .integer(let integer): Double(integer)
      case .number(let number): number
      default: nil
      }
    }
  }

  // MARK: CSV

  mutating func read(_ scanner: consuming CSVScanner, path: String) throws {
    guard let header = try scanner.row(limit: SampleFile.maximumSample) else { return }
    guard HealthAppTransferFile.isHeader(header.fields.map(\.text)) else {
      throw scanner.malformed("the header is not HealthAppTransfer's", at: header.at)
    }
    while let row = try scanner.row(limit: SampleFile.maximumSample) {
      let fields = row.fields.map(\.text)
      if fields.count != header.fields.count {
        // The file was cut off in its last row.
        guard try scanner.row(limit: SampleFile.maximumSample) == nil, fields.count < header.fields.count else {
          throw scanner.malformed("\(fields.count) columns instead of \(header.fields.count)", at: row.at)
        }
        throw SampleFileError.endsEarly(path: path, at: row.at)
      }
      let columns = Dictionary(uniqueKeysWithValues: zip(HealthSampleDTO.Member.allCases, fields))
      let weight = fields.reduce(0) { $0 + $1.utf8.count }
      try add(weight: weight, line: { row.at.line }) { () throws(HealthSampleDTO.Failure) in
        try HealthSampleDTO(
          { member in
            // A source may have an empty name.
            columns[member].flatMap { $0.isEmpty && member != .sourceName ? nil : $0 }
          },
          correlationValues: columns[.correlationValues].map(Self.numbers))
      }
      try meter.update(scanner.bytesRead, progress)
    }
  }

  /// Returns the numbers of `diastolic=80.5;systolic=120.0`.
  private static func numbers(_ text: String) -> [String: Double] {
    var numbers: [String: Double] = [:]
    for pair in text.split(separator: ";") {
      let parts = pair.split(separator: "=", maxSplits: 1)
      if parts.count == 2, let number = Double(parts[1]), number.isFinite { numbers[String(parts[0])] = number }
    }
    return numbers
  }

  // MARK: Samples

  private mutating func add(
    weight: Int, line: () -> Int, _ read: () throws(HealthSampleDTO.Failure) -> HealthSampleDTO
  ) throws {
    let read = Result { () throws(HealthSampleDTO.Failure) in try read() }
    switch read {
    case .success(let read): if let sample = read.sample { try collector.add(sample, weight: weight, line: line) }
    case .failure(let failure): collector.report.skipped.add(Self.reason(failure), line: line)
    }
  }

  private static func reason(_ failure: HealthSampleDTO.Failure) -> String {
    switch failure {
    case .unknownType(let name): "HealthAppTransfer: the type \(name.shortened(toBytes: 100)) is unknown"
    case .malformed(let member): "HealthAppTransfer: a sample whose \(member.rawValue) is missing or cannot be read"
    }
  }
}
