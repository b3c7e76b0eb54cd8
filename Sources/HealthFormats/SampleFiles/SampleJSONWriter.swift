import Foundation
import HealthModel

/// Writes one JSON document with one sample a line (`docs/reference/formats/json.md`).
public struct SampleJSONWriter: SampleFileWriter {
  private let exported: Timestamp
  private let encoder = JSONEncoder()
  private var isFirst = true

  /// - Parameter exported: the export time stated in the document.
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

/// A writer that appends samples to a byte buffer. The caller may empty the buffer at any time.
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
  /// Writes the beginning of the file, before the first sample.
  mutating func begin(into bytes: inout [UInt8])
  /// Writes a sample.
  ///
  /// - Throws: `EncodingError` if the format cannot express the sample.
  mutating func append(_ sample: Sample, to bytes: inout [UInt8]) throws
  /// Writes all samples of `changes`, much faster than one at a time.
  ///
  /// - Throws: `DecodingError` if a text in `changes` is malformed.
  mutating func append(_ changes: CodedChanges, to bytes: inout [UInt8]) throws
  /// Writes the end of the file, after the last sample.
  mutating func end(into bytes: inout [UInt8])
}

/// A writer for a format that can express only some types of samples.
public protocol SelectiveFileWriter {
  /// Writes the beginning of the file, before the first sample.
  mutating func begin(into bytes: inout [UInt8])
  /// Writes a sample. Samples of one type must be written one after the other.
  ///
  /// - Parameter members: the members of a correlation; empty for other samples.
  /// - Returns: false, and nothing is written, if the format cannot express the sample.
  mutating func append(_ sample: Sample, members: [Sample], to bytes: inout [UInt8]) -> Bool
  /// Writes the end of the file, after the last sample.
  mutating func end(into bytes: inout [UInt8])
}
