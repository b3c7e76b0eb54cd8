import Foundation
import HealthModel

/// Reads `{"format":"hpeer","version":1,…,"samples":[…]}`, with any white space.
enum SampleJSONReader {
  static let version = 1

  static func read(
    _ scanner: consuming JSONScanner, path: String, by way: SampleFile.Way, into collector: inout SampleCollector,
    _ progress: (Int64) throws -> Void
  ) throws {
    var (hasFormat, hasVersion, hasSamples) = (false, false, false)
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      switch key {
      case "format":
        guard try scanner.tree(limit: 1000).value == .string("hpeer") else {
          throw scanner.malformed("the format is not hpeer's")
        }
        hasFormat = true
      case "version":
        guard case .integer(let version) = try scanner.tree(limit: 1000).value, version > 0 else {
          throw scanner.malformed("the version is no number")
        }
        guard version <= Self.version else {
          throw SampleFileError.newerVersion(path: path, version: Int(version))
        }
        hasVersion = true
      case "samples":
        guard hasFormat, hasVersion else { throw scanner.malformed("the samples stand before format and version") }
        try readSamples(&scanner, by: way, into: &collector, progress)
        hasSamples = true
      // A newer hpeer may add members without a new version.
      default: try scanner.skipValue()
      }
    }
    try scanner.end()
    guard hasSamples else { throw scanner.malformed("there are no samples") }
  }

  private static func readSamples(
    _ scanner: inout JSONScanner, by way: SampleFile.Way, into collector: inout SampleCollector,
    _ progress: (Int64) throws -> Void
  ) throws {
    let decoder = JSONDecoder()
    var plain = PlainSamples()
    var meter = ProgressMeter(base: 0)
    try scanner.beginArray()
    while try scanner.nextElement() {
      let value = try scanner.value(limit: SampleFile.maximumSample)
      let isPlain =
        way == .fastest && value.bytes.count < SampleCollector.worthWeighing
        ? value.bytes.withUnsafeBufferPointer { bytes in
          // A value is never empty.
          bytes.baseAddress.map { plain.add(json: Bytes($0, bytes.count), to: &collector.coder) } ?? false
        } : false
      if isPlain {
        try collector.added(value.bytes.count)
      } else {
        let sample = try scanner.decode(Sample.self, from: value, with: decoder)
        try collector.add(sample, weight: value.bytes.count, line: { scanner.position.line })
      }
      try meter.update(scanner.bytesRead, progress)
    }
  }
}
