import Foundation
import HealthModel

/// Writes changes as lines of the change feed (NDJSON): `{"added":SAMPLE}` and `{"deleted":TOMBSTONE}`.
/// ``SampleFile`` reads them back, including the deletions.
public struct ChangeFeedWriter: SampleFileWriter {
  private let encoder = JSONEncoder()

  public init() { encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes] }

  public func begin(into bytes: inout [UInt8]) {}

  public func append(_ sample: Sample, to bytes: inout [UInt8]) throws {
    var coder = ChangeCoder()
    try coder.add(sample)
    try append(coder.changes, to: &bytes)
  }

  /// Writes the tombstones, then the samples, in the order of a feed.
  public func append(_ changes: CodedChanges, to bytes: inout [UInt8]) throws {
    let expander = try ChangeExpander(changes)
    for row in changes.tombstones {
      bytes.append(contentsOf: #"{"deleted":"#.utf8)
      bytes.append(contentsOf: try encoder.encode(expander.tombstone(row)))
      bytes.append(contentsOf: "}\n".utf8)
    }
    let printer = try SamplePrinter(changes)
    for row in changes.samples {
      bytes.append(contentsOf: #"{"added":"#.utf8)
      try printer.append(row, to: &bytes)
      if let statement = row.statement {
        bytes.append(contentsOf: #","statement":"#.utf8)
        bytes.append(contentsOf: try encoder.encode(changes.statements[Int(statement)]))
      }
      bytes.append(contentsOf: "}\n".utf8)
    }
  }

  public func end(into bytes: inout [UInt8]) {}
}
