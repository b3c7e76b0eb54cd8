import Foundation
import HealthModel

/// Writes a table with a row for each sample.
///
/// Fields are written unchanged: a text that begins with `=`, which a spreadsheet may take for a formula, is not
/// altered, because it would not be read back as the same text.
public struct SampleCSVWriter: SampleFileWriter {
  /// Creates a writer. The columns are always the same.
  public init() {}

  public func begin(into bytes: inout [UInt8]) {
    bytes.append(contentsOf: SampleCSV.Column.allCases.map(\.rawValue).joined(separator: ",").utf8)
    Self.endRow(&bytes)
  }

  public func append(_ sample: Sample, to bytes: inout [UInt8]) throws {
    let payload = try CodedPayload(sample.payload)
    var (number, category, categoryName): (Double?, Int64?, String?) = (nil, nil, nil)
    switch sample.payload {
    case .quantity(let quantity): number = quantity.value
    case .category(let value):
      category = value.value
      categoryName = value.name ?? value.value.flatMap { CategoryValueNames.healthKit.name(of: $0, type: sample.type) }
    default: break
    }
    for (index, column) in SampleCSV.Column.allCases.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      let text: String? =
        switch column {
        case .uuid: sample.uuid.uuidString
        case .type: sample.type.rawValue
        case .start: sample.start.iso8601
        case .end: sample.end.iso8601
        case .created: sample.created?.iso8601
        case .value: number.map { SampleCSV.text(of: $0) }
        case .unit: payload.unit
        case .category: category.map { String($0) }
        case .categoryName: categoryName
        case .sourceName: sample.source.name
        case .sourceBundle: sample.source.bundleIdentifier
        case .sourceVersion: sample.source.version
        case .device: try sample.device.map { try CanonicalJSON.encode($0) }
        case .metadata: sample.metadata.isEmpty ? nil : MetadataText.encode(sample.metadata)
        case .payloadKind: sample.payload.kind
        case .payload: payload.json
        }
      if let text { Self.append(text, to: &bytes) }
    }
    Self.endRow(&bytes)
  }

  public func append(_ changes: CodedChanges, to bytes: inout [UInt8]) throws {
    let printer = try CSVRowPrinter(changes)
    for row in changes.samples {
      if !printer.append(row, to: &bytes) { try append(try changes.sample(row), to: &bytes) }
    }
  }

  public func end(into bytes: inout [UInt8]) {}

  /// Appends a text as one field, in quotes if it is empty or contains a character that requires them.
  package static func append(_ text: String, to bytes: inout [UInt8]) {
    let needsQuotes =
      text.isEmpty || text.utf8.contains { $0 <= 0x20 || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") }
    guard needsQuotes else {
      bytes.append(contentsOf: text.utf8)
      return
    }
    append(quoted: text.utf8, to: &bytes)
  }

  /// Appends a field in quotes, doubling any quotes in it (RFC 4180).
  static func append(quoted field: some Sequence<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in field {
      if byte == UInt8(ascii: "\"") { bytes.append(byte) }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  static func endRow(_ bytes: inout [UInt8]) { bytes.append(contentsOf: [0x0D, 0x0A]) }
}
