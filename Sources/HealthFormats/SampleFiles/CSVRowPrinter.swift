import HealthModel

/// Prints the plain quantities and categories of ``CodedChanges`` as CSV rows, encoding each text of the dictionaries
/// once. ``SampleCSVWriter/append(_:to:)-(Sample,_)`` writes any sample.
struct CSVRowPrinter {
  private let forms: [CodedForm]
  private let sampleTypes: [SampleType]
  // The fields, each with its comma.
  private let types: [[UInt8]]
  private let units: [[UInt8]]
  /// The unit field of a quantity without a unit.
  private let noUnit = fields([""])
  private let sources: [[UInt8]]
  private let devices: [[UInt8]]
  private let metadata: [[UInt8]]
  // The last fields of a row.
  private let quantity = fields(["quantity"])
  private let category = fields(["category"])
  private static let comma = UInt8(ascii: ",")

  /// Encodes the dictionaries of a page.
  ///
  /// - Throws: `DecodingError` if a text in the dictionaries is malformed.
  init(_ changes: CodedChanges) throws {
    forms = changes.kinds.map(CodedForm.init(kind:))
    sampleTypes = changes.types
    types = changes.types.map { Self.fields([$0.rawValue]) }
    units = changes.units.map { Self.fields([$0]) }
    sources = changes.sources.map { Self.fields([$0.name, $0.bundleIdentifier, $0.version]) }
    devices = try changes.devices.map { Self.fields([try CanonicalJSON.encode($0)]) }
    metadata = try changes.metadata.map { Self.fields([try Self.metadata($0)]) }
  }

  /// Appends the row of a sample.
  ///
  /// - Returns: false, and nothing is written, for a sample that has more than a number and a unit.
  func append(_ row: CodedSample, to bytes: inout [UInt8]) -> Bool {
    let isQuantity: Bool
    var integer: Int64?
    switch forms[Int(row.kind)] {
    case .quantity: isQuantity = true
    case .category where row.payload == nil:
      isQuantity = false
      integer = row.number.flatMap(Int64.init(exactly:))
      guard row.number == nil || integer != nil else { return false }
    case .category, .other: return false
    }
    row.uuid.append(to: &bytes)
    bytes.append(Self.comma)
    bytes.append(contentsOf: types[Int(row.type)])
    row.start.append(to: &bytes)
    bytes.append(Self.comma)
    row.end.append(to: &bytes)
    bytes.append(Self.comma)
    row.created?.append(to: &bytes)
    bytes.append(Self.comma)
    if isQuantity {
      SampleCSV.append(row.number ?? .nan, to: &bytes)
      bytes.append(Self.comma)
      bytes.append(contentsOf: row.unit.map { units[Int($0)] } ?? noUnit)
      bytes.append(Self.comma)
      bytes.append(Self.comma)
    } else {
      bytes.append(Self.comma)
      bytes.append(Self.comma)
      integer?.append(to: &bytes)
      bytes.append(Self.comma)
      let name = integer.flatMap { CategoryValueNames.healthKit.name(of: $0, type: sampleTypes[Int(row.type)]) }
      if let name { SampleCSVWriter.append(name, to: &bytes) }
      bytes.append(Self.comma)
    }
    bytes.append(contentsOf: sources[Int(row.source)])
    if let device = row.device { bytes.append(contentsOf: devices[Int(device)]) } else { bytes.append(Self.comma) }
    if let index = row.metadata { bytes.append(contentsOf: metadata[Int(index)]) } else { bytes.append(Self.comma) }
    bytes.append(contentsOf: isQuantity ? quantity : category)
    SampleCSVWriter.endRow(&bytes)
    return true
  }

  private static func fields(_ texts: [String?]) -> [UInt8] {
    var bytes: [UInt8] = []
    for text in texts {
      if let text { SampleCSVWriter.append(text, to: &bytes) }
      bytes.append(comma)
    }
    return bytes
  }

  /// Returns metadata in the form of ``MetadataText``, or `nil` if it is empty.
  private static func metadata(_ text: String) throws -> String? {
    if MetadataText.isPlain(text) { return text }
    let metadata = try CanonicalJSON.decode(Metadata.self, text)
    return metadata.isEmpty ? nil : MetadataText.encode(metadata)
  }
}
