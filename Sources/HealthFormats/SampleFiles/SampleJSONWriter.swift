import Foundation
import HealthModel

/// Writes one JSON document with a sample a line (`docs/reference/formats/json.md`).
public struct SampleJSONWriter: SampleFileWriter {
  private let exported: Timestamp
  private let encoder = JSONEncoder()
  private var isFirst = true

  /// - Parameter exported: what the document says of when it was made.
  public init(exported: Timestamp) {
    self.exported = exported
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  public func begin(into bytes: inout [UInt8]) {
    let head =
      #"{"format":"hpeer","version":\#(SampleJSONReader.version),"exported":"\#(exported.iso8601)","samples":["#
    bytes.append(contentsOf: head.utf8)
  }

  public mutating func append(_ sample: Sample, to bytes: inout [UInt8]) throws {
    beginLine(&bytes)
    bytes.append(contentsOf: try encoder.encode(sample))
  }

  public mutating func append(_ changes: CodedChanges, to bytes: inout [UInt8]) throws {
    let printer = try SamplePrinter(changes)
    for row in changes.samples {
      beginLine(&bytes)
      try printer.append(row, to: &bytes)
    }
  }

  private mutating func beginLine(_ bytes: inout [UInt8]) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\n"))
    isFirst = false
  }

  public func end(into bytes: inout [UInt8]) {
    bytes.append(contentsOf: "\n]}\n".utf8)
  }
}

/// Writes samples, one after the other, into bytes that the caller takes away when it likes.
///
/// ```swift
/// func write(_ samples: [Sample], with writer: inout some SampleFileWriter) throws -> [UInt8] {
///   var bytes: [UInt8] = []
///   writer.begin(into: &bytes)
///   for sample in samples { try writer.append(sample, to: &bytes) }
///   writer.end(into: &bytes)
///   return bytes
/// }
/// ```
public protocol SampleFileWriter {
  /// What comes before the first sample.
  mutating func begin(into bytes: inout [UInt8])
  /// Throws `EncodingError` for a sample that the format cannot say.
  mutating func append(_ sample: Sample, to bytes: inout [UInt8]) throws
  /// The same of all samples of `changes`, in a small part of the time. Throws `DecodingError` where a text in them is
  /// not what it should be.
  mutating func append(_ changes: CodedChanges, to bytes: inout [UInt8]) throws
  /// What comes after the last sample.
  mutating func end(into bytes: inout [UInt8])
}

/// Writes samples of those types that a format has a place for.
public protocol SelectiveFileWriter {
  /// What comes before the first sample.
  mutating func begin(into bytes: inout [UInt8])
  /// Samples of one type come one after the other.
  ///
  /// - Parameter members: those of a correlation; of others, none.
  /// - Returns: false where the format has no place for the sample, and then nothing is written.
  mutating func append(_ sample: Sample, members: [Sample], to bytes: inout [UInt8]) -> Bool
  /// What comes after the last sample.
  mutating func end(into bytes: inout [UInt8])
}
