import Foundation
import HealthModel

/// A file of samples in one of hpeer's own formats (`docs/formats.md`), which hold all that a store does of a sample.
public struct SampleFile: Sendable {
  public enum Format: Sendable, Equatable {
    /// What `hpeer export --format json` writes.
    case json
    /// What `hpeer export --format csv` writes.
    case csv
    /// The change feed in lines (`application/x-ndjson`), and samples in lines as `hpeer show --json` prints them.
    case changeFeed
  }

  enum Origin: Sendable {
    case file(path: String)
    case memory([UInt8])
  }

  public let format: Format
  public let path: String
  public let totalBytes: Int64
  let origin: Origin

  /// What ``read(batchSize:progress:deliver:)`` reports when it is done.
  public var workBytes: Int64 { totalBytes }

  /// In bytes; the longest samples that exist have a few hundred thousand.
  static let maximumSample = 64 << 20

  init(format: Format, path: String, totalBytes: Int64) {
    (self.format, self.path, self.totalBytes) = (format, path, totalBytes)
    origin = .file(path: path)
  }

  init(format: Format, bytes: [UInt8]) {
    (self.format, path, totalBytes) = (format, "memory", Int64(bytes.count))
    origin = .memory(bytes)
  }

  /// Reads the file once, in constant memory. Blocks: call it on a thread of your own.
  ///
  /// - Parameters:
  ///   - batchSize: the most samples in one batch.
  ///   - progress: called now and then with the bytes that have been read; may throw to stop.
  ///   - deliver: takes whole samples, in the order of the file; may block, and may throw to stop.
  /// - Returns: what was found. ``ImportReport/isComplete`` is false for a file that ends early: all that was whole has
  ///   been delivered.
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
    var collector = SampleCollector(size: batchSize, deliver: deliver)
    do {
      switch format {
      case .json:
        try SampleJSONReader.read(
          JSONScanner(source: try source(), path: path, chunkSize: chunkSize), path: path, into: &collector, progress)
      case .csv:
        try SampleCSVReader.read(
          CSVScanner(source: try source(), path: path, chunkSize: chunkSize), path: path, into: &collector, progress)
      case .changeFeed:
        try ChangeFeedReader.read(
          JSONScanner(source: try source(), path: path, chunkSize: chunkSize), into: &collector, progress)
      }
      collector.report.isComplete = true
    } catch SampleFileError.endsEarly(_, let position) {
      collector.report.end = position
    }
    return try collector.finish()
  }

  private func source() throws(ImportError) -> any ByteSource {
    switch origin {
    case .memory(let bytes): MemorySource(bytes)
    case .file(let path): SizedSource(try FileSource(path: path), path: path, size: totalBytes)
    }
  }
}

extension JSONScanner {
  /// The next value as what `type` is made of; where it is not, with the reason and the place.
  mutating func decode<Value: Decodable>(_ type: Value.Type, with decoder: JSONDecoder) throws -> (Value, weight: Int) {
    let (bytes, offset) = try value(limit: SampleFile.maximumSample)
    do {
      return (try decoder.decode(type, from: Data(bytes)), bytes.count)
    } catch {
      // Says where, if the text is no JSON at all.
      _ = try parse(bytes, at: offset)
      throw malformed(Self.reason(error), at: offset)
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
