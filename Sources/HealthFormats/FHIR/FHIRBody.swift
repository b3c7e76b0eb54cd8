import Foundation
import HealthModel

/// The members of a sample's resource that express its payload.
struct FHIRBody {
  /// The member `,"value…":…` or `,"dataAbsentReason":…`; empty if the parts express the whole payload.
  var value: [UInt8] = []
  /// The members `,"hasMember":[…]` and `,"component":[…]`.
  var parts: [UInt8] = []
  /// The extension's members for the parts of the payload that cannot be read back from the resource.
  var rest: [FHIRPage.Member] = []
  /// Whether the table's codes apply to this payload.
  var fitsCodes = true

  /// - Parameter members: the available members of a correlation.
  init(
    _ row: CodedSample, kind: String, _ page: inout FHIRPage, map: FHIRMap, links: FHIRLinks, members: [Sample]
  ) throws {
    if kind != Quantity.kind, map[page.changes.types[Int(row.type)]]?.unit != nil { fitsCodes = false }
    switch kind {
    case Quantity.kind: quantity(row, &page)
    case CategoryValue.kind where row.payload == nil: category(row, &page)
    default:
      let sample = try page.changes.sample(row)
      rest.append(FHIRPage.member("kind", text: kind))
      rest.append(
        FHIRPage.member("payload", (row.payload.map { page.changes.payloads[Int($0)] } ?? "{}").utf8))
      FHIRParts(sample, map: map, links: links).append(members: members, to: &self)
    }
  }

  private mutating func quantity(_ row: CodedSample, _ page: inout FHIRPage) {
    let number = row.number ?? .nan
    var unit = ""
    let form: FHIRQuantity
    if let index = row.unit {
      form = page.quantity(row, unit: index)
      unit = page.changes.units[Int(index)]
    } else {
      form = FHIRQuantity(unit: "", entry: nil)
    }
    fitsCodes = form.fitsCodes
    let shown = form.value(of: number)
    value.append(",")
    form.append(shown, to: &value)
    if form.isReadBack(number, from: shown) { return }
    var json: [UInt8] = []
    json.append("{\"unit\":")
    json.append(quoted: unit)
    json.append(",\"value\":")
    json.append(number: number)
    json.append("}")
    rest.append(FHIRPage.member("kind", text: Quantity.kind))
    rest.append(FHIRPage.member("payload", json))
  }

  private mutating func category(_ row: CodedSample, _ page: inout FHIRPage) {
    guard let number = row.number.flatMap(Int64.init(exactly:)) else {
      value.append(",\"dataAbsentReason\":")
      value.append(absence: "unknown", display: "Unknown")
      rest.append(FHIRPage.member("kind", text: CategoryValue.kind))
      rest.append(FHIRPage.member("payload", "{}".utf8))
      return
    }
    let (bytes, isReadBack) = page.category(row, number)
    value = bytes
    if !isReadBack {
      rest.append(FHIRPage.member("kind", text: CategoryValue.kind))
      rest.append(FHIRPage.member("payload", "{\"value\":\(number)}".utf8))
    }
    if page.changes.types[Int(row.type)].rawValue == "HKCategoryTypeIdentifierSleepAnalysis" {
      sleep(stage: number, seconds: Double(row.end.microseconds &- row.start.microseconds) / 1_000_000)
    }
  }

  /// Appends the duration of a sleep stage for which LOINC has a code.
  private mutating func sleep(stage: Int64, seconds: Double) {
    let duration: (code: String, display: String)? =
      switch stage {
      case 1: ("93832-4", "Sleep duration")
      case 3: ("93830-8", "Light sleep duration")
      case 4: ("93831-6", "Deep sleep duration")
      case 5: ("93829-0", "REM sleep duration")
      default: nil
      }
    guard let duration, seconds >= 0, seconds < 1e9 else { return }
    var components = FHIRComponents()
    components.add(
      [FHIRMap.Coding(system: FHIRText.loinc, code: duration.code, display: duration.display)], text: nil,
      Quantity(seconds / 60, "min"), entry: nil)
    components.append(to: &parts)
  }
}

/// The components of an observation.
struct FHIRComponents {
  private var bytes: [UInt8] = []

  /// Adds a component.
  ///
  /// - Parameter write: a closure that appends the value, without a leading comma.
  mutating func add(
    _ codings: [FHIRMap.Coding], text: String?, extension member: Sample? = nil,
    _ write: (inout [UInt8]) -> Void
  ) {
    bytes.append(bytes.isEmpty ? "{" : ",{")
    if let member, let json = try? CanonicalJSON.encode(member) {
      bytes.append("\"extension\":[{\"url\":\"urn:hpeer:fhir:sample\",\"valueString\":")
      bytes.append(quoted: json)
      bytes.append("}],")
    }
    bytes.append("\"code\":")
    bytes.append(concept: codings, text: text)
    bytes.append(",")
    write(&bytes)
    bytes.append("}")
  }

  mutating func add(
    _ codings: [FHIRMap.Coding], text: String?, extension member: Sample? = nil, _ quantity: Quantity,
    entry: FHIRMap.Entry?
  ) {
    add(codings, text: text, extension: member) { FHIRQuantity.append(quantity, entry: entry, to: &$0) }
  }

  /// Appends the member `,"component":[…]`, or nothing if there are no components.
  func append(to other: inout [UInt8]) {
    if bytes.isEmpty { return }
    other.append(",\"component\":[")
    other.append(contentsOf: bytes)
    other.append("]")
  }
}
