import Foundation
import HealthModel

/// A file of samples in one of the formats that hpeer writes and reads (`docs/reference/formats`). All formats except
/// FHIR hold everything that a store holds about a sample.
///
/// ```swift
/// func count(_ file: SampleFile) throws -> [SampleType: Int] {
///   var counts: [SampleType: Int] = [:]
///   let report = try file.read { batch in counts.merge(batch.countsByType, uniquingKeysWith: +) }
///   if !report.isComplete { print("The file ends early.") }
///   return counts
/// }
/// ```
public struct SampleFile: RecordFormat {
  /// A format of hpeer's sample files, recognised by content, not by file name.
  public enum Format: Sendable, Equatable {
    /// The JSON document that `hpeer export --format json` writes.
    case json
    /// The table that `hpeer export --format csv` writes.
    case csv
    /// The change feed as NDJSON (`application/x-ndjson`), or one sample a line as `hpeer show --json` prints them.
    case changeFeed
    /// A FHIR `Bundle` in JSON. Only observations that hpeer wrote are read.
    case fhirBundle
    /// FHIR resources in sequence, such as the lines of Bulk Data. Only observations that hpeer wrote are read.
    case fhirResources

    init?(_ head: FileHead) {
      switch head.form {
      case .object(let object):
        guard let format = Self.format(of: object) else { return nil }
        self = format
      case .table(let columns):
        guard SampleCSV.required.allSatisfy({ columns.contains($0.rawValue) }) else { return nil }
        self = .csv
      case .array, .other: return nil
      }
    }

    private static func format(of object: ObjectHead) -> Format? {
      if object.texts["format"] == "hpeer" { return .json }
      if let type = object.texts["resourceType"] { return type == "Bundle" ? .fhirBundle : .fhirResources }
      let members = Set(object.members)
      let isLine =
        !members.isDisjoint(with: ["added", "deleted"]) || members.isSuperset(of: ["token", "more"])
        || members.isSuperset(of: ["uuid", "type", "start"])
      return isLine ? .changeFeed : nil
    }
  }

  /// The format of the file, as recognised.
  public let format: Format
  private let content: FileContent

  /// The path as the person gave it, for messages.
  public var path: String { content.path }
  /// The size of the file when it was recognised, before any decompression.
  public var totalBytes: Int64 { content.size }

  public var workBytes: Int64 { totalBytes }

  /// The maximum size of a sample in bytes. The longest real samples have a few hundred thousand.
  static let maximumSample = 64 << 20

  init(format: Format, _ content: FileContent) {
    (self.format, self.content) = (format, content)
  }

  init(format: Format, path: String, totalBytes: Int64) {
    self.init(format: format, FileContent(path: path, size: totalBytes))
  }

  init(format: Format, bytes: [UInt8]) { self.init(format: format, FileContent(bytes)) }

  public static func recognise(_ candidate: ImportCandidate) -> SampleFile? {
    guard let file = candidate.file else { return nil }
    if let format = Format(file.head) { return SampleFile(format: format, file.content) }
    // A feed of a store without any samples has no lines.
    let isEmpty = file.head.bytes.isEmpty && candidate.name.contains(".ndjson")
    return isEmpty ? SampleFile(format: .changeFeed, file.content) : nil
  }

  public var road: SampleRoad { .file }

  public func read(
    _ options: ReadingOptions, progress: @escaping (_ bytes: Int64) throws -> Void,
    deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    try read(progress: progress, deliver: deliver)
  }

  /// Reads the file once, in constant memory, on a background thread. Blocks: call it on a thread of your own.
  ///
  /// - Parameters:
  ///   - batchSize: the maximum number of samples in one batch.
  ///   - progress: called from time to time with the number of bytes read; may throw to stop.
  ///   - deliver: called with each batch of complete samples, in file order, while the next batch is read; may block,
  ///     and may throw to stop.
  /// - Returns: a report. ``ImportReport/isComplete`` is false if the file ends early; everything complete before
  ///   that has been delivered.
  /// - Throws: ``SampleFileError`` or ``ImportError``, or what the closures throw.
  public func read(
    batchSize: Int = 32_000, progress: (_ bytes: Int64) throws -> Void = { _ in },
    deliver: (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    let queue = BatchQueue<SampleBatch>()
    let thread = Thread { [self] in
      queue.end(
        Result {
          try read(
            batchSize: batchSize, chunkSize: 256 << 10, progress: { try queue.report($0) },
            deliver: { try queue.put($0) })
        })
    }
    thread.stackSize = Self.stackSize
    thread.start()
    do {
      while true {
        switch queue.next() {
        case .progress(let bytes): try progress(bytes)
        case .batch(let batch): try deliver(batch)
        // A successful read always returns a report.
        case .end(let result): return try result.get() ?? ImportReport()
        }
      }
    } catch {
      queue.cancel()
      throw error
    }
  }

  /// The stack size of the reading thread in bytes. Decoders recurse into nested values.
  private static let stackSize = 4 << 20

  /// The parser that reads the samples.
  enum Way {
    /// The fast parser ``PlainSamples`` where it applies, otherwise ``general``.
    case fastest
    /// The decoder of ``Sample``, for samples in any form. Both parsers return the same samples.
    case general
  }

  /// Performs ``read(batchSize:progress:deliver:)`` on the calling thread.
  func read(
    batchSize: Int, chunkSize: Int, by way: Way = .fastest, progress: @escaping (Int64) throws -> Void = { _ in },
    deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    var collector = SampleCollector(size: batchSize, deliver: deliver)
    let source = try source()
    let progress = { (_: Int64) in try progress(source.position) }
    do {
      switch format {
      case .json:
        try SampleJSONReader.read(
          JSONScanner(source: source, path: path, chunkSize: chunkSize), path: path, by: way, into: &collector,
          progress)
      case .csv:
        try SampleCSVReader.read(
          CSVScanner(source: source, path: path, chunkSize: chunkSize), path: path, by: way, into: &collector,
          progress)
      case .changeFeed:
        try ChangeFeedReader.read(
          JSONScanner(source: source, path: path, chunkSize: chunkSize), into: &collector, progress)
      case .fhirBundle:
        try FHIRReader.read(
          bundle: JSONScanner(source: source, path: path, chunkSize: chunkSize), into: &collector, progress)
      case .fhirResources:
        try FHIRReader.read(
          lines: JSONScanner(source: source, path: path, chunkSize: chunkSize), into: &collector, progress)
      }
      collector.report.isComplete = collector.report.end == nil
    } catch SampleFileError.endsEarly(_, let position) {
      collector.report.end = position
    }
    return try collector.finish()
  }

  func source() throws(ImportError) -> ContentSource { try content.open() }
}

extension JSONScanner {
  /// Decodes the value that was read last. Throws ``SampleFileError`` with the reason and the position if that fails.
  func decode<Value: Decodable>(
    _ type: Value.Type, from value: (bytes: ArraySlice<UInt8>, offset: Int64), with decoder: JSONDecoder
  ) throws -> Value {
    do {
      return try decoder.decode(type, from: Data(value.bytes))
    } catch {
      // If the text is not JSON at all, this throws the exact position.
      _ = try parse(value.bytes, at: value.offset)
      throw malformed(Self.reason(error), at: value.offset)
    }
  }

  private static func reason(_ error: any Error) -> String {
    func name(_ path: [any CodingKey]) -> String {
      path.isEmpty ? "it" : path.map(\.stringValue).joined(separator: ".")
    }
    return switch error as? DecodingError {
    case .keyNotFound(let key, let context): "\(name(context.codingPath + [key])) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      "\(name(context.codingPath)) is of the wrong kind"
    case .dataCorrupted(let context): "\(name(context.codingPath)) is not what it should be"
    default: "it is not a sample"
    }
  }
}
