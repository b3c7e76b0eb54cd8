import Foundation

/// A fast printer of the samples of ``CodedChanges``, with exactly the output of ``CanonicalJSON``. Each dictionary
/// text is converted to JSON once; a quantity or a category needs only these texts and a few numbers.
public struct SamplePrinter: Sendable {
  private let changes: CodedChanges
  private let forms: [CodedForm]
  // Members of the JSON object, each with its name and a trailing comma.
  private let types: [[UInt8]]
  private let units: [[UInt8]]
  private let sources: [[UInt8]]
  private let devices: [[UInt8]]
  private let metadata: [[UInt8]]

  /// Creates a printer.
  ///
  /// - Throws: `DecodingError` if a text in the dictionaries cannot be decoded.
  public init(_ changes: CodedChanges) throws {
    self.changes = changes
    forms = changes.kinds.map(CodedForm.init(kind:))
    types = changes.types.map { Self.member("type", Self.quoted($0.rawValue)) }
    units = changes.units.map(Self.quoted)
    sources = try changes.sources.map { Self.member("source", Array(try CanonicalJSON.encode($0).utf8)) }
    devices = try changes.devices.map { Self.member("device", Array(try CanonicalJSON.encode($0).utf8)) }
    metadata = try changes.metadata.map { text in
      let json = try Self.json(metadata: text)
      return json.isEmpty ? [] : Self.member("metadata", json)
    }
  }

  /// Appends a sample.
  ///
  /// - Throws: `DecodingError` if its payload does not match its kind.
  public func append(_ row: CodedSample, to bytes: inout [UInt8]) throws {
    guard let payload = plainPayload(row) else {
      bytes.append(contentsOf: try CanonicalJSON.encode(try changes.sample(row)).utf8)
      return
    }
    bytes.append("{")
    if let created = row.created {
      bytes.append("\"created\":\"")
      created.append(to: &bytes)
      bytes.append("\",")
    }
    if let device = row.device { bytes.append(contentsOf: devices[Int(device)]) }
    bytes.append("\"end\":\"")
    row.end.append(to: &bytes)
    switch payload {
    case .quantity: bytes.append("\",\"kind\":\"quantity\",")
    case .category: bytes.append("\",\"kind\":\"category\",")
    }
    if let metadata = row.metadata { bytes.append(contentsOf: self.metadata[Int(metadata)]) }
    switch payload {
    case .quantity(let value):
      bytes.append("\"payload\":{\"unit\":")
      if let unit = row.unit { bytes.append(contentsOf: units[Int(unit)]) } else { bytes.append("\"\"") }
      bytes.append(",\"value\":")
      bytes.append(number: value)
      bytes.append("},")
    case .category(let value?):
      bytes.append("\"payload\":{\"value\":")
      value.append(to: &bytes)
      bytes.append("},")
    case .category(nil): bytes.append("\"payload\":{},")
    }
    bytes.append(contentsOf: sources[Int(row.source)])
    bytes.append("\"start\":\"")
    row.start.append(to: &bytes)
    bytes.append("\",")
    bytes.append(contentsOf: types[Int(row.type)])
    bytes.append("\"uuid\":\"")
    row.uuid.append(to: &bytes)
    bytes.append("\"}")
  }

  private enum PlainPayload {
    case quantity(Double)
    case category(Int64?)
  }

  /// Returns the payload of a row if it consists only of a number and a unit, or `nil`.
  private func plainPayload(_ row: CodedSample) -> PlainPayload? {
    switch forms[Int(row.kind)] {
    case .quantity: return .quantity(row.number ?? .nan)
    case .category where row.payload == nil:
      guard let number = row.number else { return .category(nil) }
      return Int64(exactly: number).map { .category($0) }
    case .category, .other: return nil
    }
  }

  // MARK: The dictionaries

  private static func quoted(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(quoted: text)
    return bytes
  }

  private static func member(_ name: StaticString, _ value: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append("\"")
    bytes.append(name)
    bytes.append("\":")
    return bytes + value + [UInt8(ascii: ",")]
  }

  /// Returns metadata as JSON, or an empty array for empty metadata.
  private static func json(metadata text: String) throws -> [UInt8] {
    if MetadataText.isPlain(text) { return Array(text.utf8) }
    let metadata = try CanonicalJSON.decode(Metadata.self, text)
    return metadata.isEmpty ? [] : Array(try CanonicalJSON.encode(metadata).utf8)
  }
}
