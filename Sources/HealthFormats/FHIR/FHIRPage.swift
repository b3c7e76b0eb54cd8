import Foundation
import HealthModel

/// The dictionaries of ``CodedChanges`` as JSON fragments, each encoded once for all samples that use it.
struct FHIRPage {
  /// A named JSON text in the extension, escaped for the string that contains it.
  typealias Member = [UInt8]

  /// The JSON fragments of a sample type.
  struct TypeForm {
    let entry: FHIRMap.Entry?
    /// The member `meta` with the profile, which precedes the extension.
    let meta: [UInt8]
    /// The members from `status` to `subject`.
    let code: [UInt8]
    /// The type's name for the extension, if FHIR cannot express it as a code.
    let rest: Member?
  }

  /// The JSON fragments of a source and a device.
  struct AgentForm {
    let contained: [UInt8]
    let reference: [UInt8]
    /// The source and the device for the extension, as far as ``contained`` does not express them exactly.
    let rest: [Member]
  }

  let changes: CodedChanges
  private let map: FHIRMap
  private let subject: [UInt8]
  private let metadata: [(rest: Member, zone: TimeZone?)]
  private var types: [UInt64: TypeForm] = [:]
  private var units: [UInt64: FHIRQuantity] = [:]
  private var agents: [UInt64: AgentForm] = [:]
  private var categories: [CategoryKey: (bytes: [UInt8], isReadBack: Bool)] = [:]

  private struct CategoryKey: Hashable {
    var type: UInt32
    var value: Int64
  }

  /// - Parameter subject: the member `subject` with a leading comma, or nothing.
  init(_ changes: CodedChanges, map: FHIRMap, subject: [UInt8]) throws {
    (self.changes, self.map, self.subject) = (changes, map, subject)
    metadata = try changes.metadata.map { text in
      // Most metadata names no time zone and need not be decoded.
      let isPlain = MetadataText.isPlain(text) && !Self.names(zone: text)
      let metadata = isPlain ? [:] : try CanonicalJSON.decode(Metadata.self, text)
      return (Self.member("metadata", text.utf8), FHIRText.zone(of: metadata))
    }
  }

  private static let zoneKey = Array("\"HKTimeZone\"".utf8)

  private static func names(zone text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count >= zoneKey.count else { return false }
    return (0...bytes.count - zoneKey.count).contains { bytes[$0] == zoneKey[0] && bytes[$0...].starts(with: zoneKey) }
  }

  /// Returns a member of the extension.
  ///
  /// - Parameter json: any JSON text.
  static func member(_ name: String, _ json: some Sequence<UInt8>) -> Member {
    var bytes: [UInt8] = []
    bytes.append("\\\"")
    bytes.append(contentsOf: name.utf8)
    bytes.append("\\\":")
    bytes.append(escaping: json)
    return bytes
  }

  static func member(_ name: String, text: String) -> Member {
    var json: [UInt8] = []
    json.append(quoted: text)
    return member(name, json)
  }

  func metadata(of row: CodedSample) -> (rest: Member, zone: TimeZone?)? { row.metadata.map { metadata[Int($0)] } }

  /// Returns the fragments of a sample's type.
  ///
  /// - Parameter fitsCodes: whether the table's codes apply to the sample.
  mutating func type(_ row: CodedSample, fitsCodes: Bool) -> TypeForm {
    let key = UInt64(row.type) << 1 | (fitsCodes ? 1 : 0)
    if let known = types[key] { return known }
    let type = changes.types[Int(row.type)]
    let entry = map[type]
    var meta: [UInt8] = []
    if fitsCodes, let profile = entry?.profile {
      meta.append(",\"meta\":{\"profile\":[")
      meta.append(quoted: profile)
      meta.append("]}")
    }
    var code: [UInt8] = []
    code.append(",\"status\":\"final\"")
    if let category = entry?.category {
      code.append(",\"category\":[{\"coding\":[")
      code.append(
        coding: "http://terminology.hl7.org/CodeSystem/observation-category", category,
        display: FHIRMapParser.categories[category])
      code.append("]}]")
    }
    code.append(",\"code\":")
    code.append(concept: map.codings(of: type, withTable: fitsCodes), text: FHIRMap.name(of: type))
    code.append(contentsOf: subject)
    let form = TypeForm(
      entry: entry, meta: meta, code: code,
      rest: FHIRText.isCode(type.rawValue) ? nil : Self.member("type", text: type.rawValue))
    types[key] = form
    return form
  }

  mutating func quantity(_ row: CodedSample, unit: UInt32) -> FHIRQuantity {
    let key = UInt64(row.type) << 32 | UInt64(unit)
    if let known = units[key] { return known }
    let type = changes.types[Int(row.type)]
    let form = FHIRQuantity(
      unit: changes.units[Int(unit)], entry: map[type], isOfApp: AppReadings.isOwnType(type))
    units[key] = form
    return form
  }

  mutating func agent(_ row: CodedSample) throws -> AgentForm {
    let key = UInt64(row.source) << 32 | UInt64(row.device.map { $0 + 1 } ?? 0)
    if let known = agents[key] { return known }
    let source = changes.sources[Int(row.source)]
    let device = row.device.map { changes.devices[Int($0)] }
    var json: [UInt8] = []
    FHIRAgent.append(source, device, to: &json)
    let contained = Array(",\"contained\":[".utf8) + json + Array("]".utf8)
    var reference: [UInt8] = []
    reference.append(",\"device\":{\"reference\":\"#device\"")
    if let display = FHIRText.plain(source.name) ?? device?.name.flatMap(FHIRText.plain) {
      reference.append(",\"display\":")
      reference.append(quoted: display)
    }
    reference.append("}")
    var rest: [Member] = []
    let read = (try? JSONParser.parse(json[...])).map(FHIRAgent.read)
    if read.map({ $0.source.isExactly(source) }) != true {
      rest.append(Self.member("source", try CanonicalJSON.encode(source).utf8))
    }
    let isSameDevice =
      switch (read?.device, device) {
      case (nil, nil): true
      case (let read?, let device?): read.isExactly(device)
      default: false
      }
    if !isSameDevice {
      rest.append(Self.member("device", try device.map { try CanonicalJSON.encode($0) }?.utf8 ?? "null".utf8))
    }
    let form = AgentForm(contained: contained, reference: reference, rest: rest)
    agents[key] = form
    return form
  }

  /// Returns `,"valueCodeableConcept":{…}` for a category's integer, and whether reading it restores the integer.
  mutating func category(_ row: CodedSample, _ value: Int64) -> (bytes: [UInt8], isReadBack: Bool) {
    let key = CategoryKey(type: row.type, value: value)
    if let known = categories[key] { return known }
    let type = changes.types[Int(row.type)]
    let name = CategoryValueNames.healthKit.name(of: value, type: type)
    let code = name ?? String(value)
    var bytes: [UInt8] = []
    bytes.append(",\"valueCodeableConcept\":")
    let system = type.rawValue.utf8.starts(with: "HK".utf8) ? FHIRText.appleSystem : FHIRText.ownTypes
    bytes.append(
      concept: [FHIRMap.Coding(system: system, code: code, display: Self.words(code, of: type))], text: nil)
    let form = (
      bytes, CategoryValueNames.healthKit.value(exported: code, type: type) == CategoryValue(value: value)
    )
    categories[key] = form
    return form
  }

  /// Returns the words of a HealthKit name: `Asleep Core` for `HKCategoryValueSleepAnalysisAsleepCore`.
  static func words(_ name: String, of type: SampleType? = nil) -> String {
    var words = Substring(name)
    let known = type.map { $0.rawValue.replacing("HKCategoryTypeIdentifier", with: "", maxReplacements: 1) } ?? ""
    for prefix in ["HKCategoryValue", "HKWorkoutActivityType", known] where words.hasPrefix(prefix) && words != prefix {
      words = words.dropFirst(prefix.count)
    }
    return words.reduce(into: "") { result, letter in
      if letter.isUppercase, result.last?.isLowercase == true { result.append(" ") }
      result.append(letter)
    }
  }
}
