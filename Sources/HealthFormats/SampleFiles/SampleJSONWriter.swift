import Foundation
import HealthModel

/// Writes one JSON document with a sample a line (`docs/formats.md`).
public struct SampleJSONWriter: SampleFileWriter {
  private let exported: Timestamp
  private let encoder = JSONEncoder()
  private var isFirst = true

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
    bytes.append(contentsOf: (isFirst ? "\n" : ",\n").utf8)
    isFirst = false
    bytes.append(contentsOf: try encoder.encode(sample))
  }

  public func end(into bytes: inout [UInt8]) {
    bytes.append(contentsOf: "\n]}\n".utf8)
  }
}

/// Writes samples, one after the other, into bytes that the caller takes away when it likes.
public protocol SampleFileWriter {
  /// What comes before the first sample.
  mutating func begin(into bytes: inout [UInt8])
  /// Throws `EncodingError` for a sample that the format cannot say.
  mutating func append(_ sample: Sample, to bytes: inout [UInt8]) throws
  /// What comes after the last sample.
  mutating func end(into bytes: inout [UInt8])
}
