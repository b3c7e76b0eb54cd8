import Foundation
import HealthModel

/// Reads the resources that ``FHIRWriter`` wrote, from a bundle or in sequence.
enum FHIRReader {
  /// The maximum size of a resource in bytes. hpeer's own have up to 2 MiB of extension, and as much of voltages or
  /// three times as much of an attachment.
  private static let maximumResource = 8 << 20
  /// The budget of a resource. hpeer writes no larger ones.
  private static let budget = JSONBudget(bytes: maximumResource, weight: 500_000)

  static func read(
    bundle scanner: consuming JSONScanner, into collector: inout SampleCollector, _ progress: (Int64) throws -> Void
  ) throws {
    var meter = ProgressMeter(base: 0)
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      guard key == "entry" else {
        try scanner.skipValue()
        continue
      }
      try scanner.beginArray()
      while try scanner.nextElement() {
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
          if key == "resource" {
            try resource(&scanner, into: &collector)
          } else {
            try scanner.skipValue()
          }
        }
        try meter.update(scanner.bytesRead, progress)
      }
    }
    try scanner.end()
  }

  static func read(
    lines scanner: consuming JSONScanner, into collector: inout SampleCollector, _ progress: (Int64) throws -> Void
  ) throws {
    var meter = ProgressMeter(base: 0)
    while try scanner.peek() != nil {
      try resource(&scanner, into: &collector)
      try meter.update(scanner.bytesRead, progress)
    }
  }

  /// The result of reading one resource.
  private enum Outcome {
    case samples([Sample])
    case skipped(String)
    /// The resource is hpeer's own but not a sample.
    case passed
  }

  private static func resource(_ scanner: inout JSONScanner, into collector: inout SampleCollector) throws {
    let value = try scanner.value(limit: SampleFile.maximumSample)
    switch try outcome(scanner, value) {
    case .samples(let samples):
      for sample in samples {
        try collector.add(sample, weight: value.bytes.count, line: { scanner.position.line })
      }
    case .skipped(let reason): collector.report.skipped.add(reason, line: { scanner.position.line })
    case .passed: break
    }
  }

  private static func outcome(
    _ scanner: borrowing JSONScanner, _ value: (bytes: ArraySlice<UInt8>, offset: Int64)
  ) throws -> Outcome {
    guard value.bytes.withUnsafeBytes({ budget.verdict(on: $0) }) == .fits else {
      return .skipped("FHIR: a resource larger than any that hpeer writes")
    }
    let resource = try scanner.parse(value.bytes, at: value.offset)
    guard let type = resource["resourceType"]?.text else { return .skipped("FHIR: something that is no resource") }
    switch type {
    case "Observation", "DocumentReference": break
    case "Patient" where isOwn(patient: resource): return .passed
    default:
      let name = FHIRText.isCode(type) ? String(type.prefix(40)) : "unknown"
      return .skipped("FHIR: \(name) resources, which hpeer does not read")
    }
    do throws(FHIRObservation.Failure) {
      return .samples(try FHIRObservation(resource).samples())
    } catch {
      switch error {
      case .foreign:
        return .skipped("FHIR: \(type) resources of another program, of which hpeer reads only its own")
      case .malformed(let part): return .skipped("FHIR: \(type) resources whose \(part) is missing or cannot be read")
      }
    }
  }

  private static func isOwn(patient: JSONValue) -> Bool {
    patient["identifier"]?.elements.contains { $0["system"]?.text == FHIRText.storeSystem } == true
  }
}

/// An `Observation` or `DocumentReference` that ``FHIRWriter`` wrote.
struct FHIRObservation {
  enum Failure: Error {
    /// The resource does not have hpeer's extension.
    case foreign
    /// The resource is malformed.
    ///
    /// - Parameter part: the missing or invalid part.
    case malformed(_ part: String)
  }

  private let resource: JSONValue
  /// The members of hpeer's extension, which take precedence over the resource.
  private let rest: [String: JSONValue]
  private let restText: String

  init(_ resource: JSONValue) throws(Failure) {
    self.resource = resource
    guard let text = Self.extensionText(of: resource) else { throw .foreign }
    restText = text
    rest = try Self.object(text)
  }

  private static func extensionText(of element: JSONValue) -> String? {
    element["extension"]?.elements.first { $0["url"]?.text == FHIRText.sampleExtension }?["valueString"]?.text
  }

  private static func object(_ text: String) throws(Failure) -> [String: JSONValue] {
    guard text.utf8.count <= FHIRText.maximumString, JSONBudget.metadata.verdict(on: text) == .fits,
      case .object(let members)? = try? JSONParser.parse(Array(text.utf8)[...])
    else { throw .malformed("extension of hpeer's") }
    return members
  }

  /// Returns the samples of the resource: first the members of a blood pressure, then the sample itself.
  func samples() throws(Failure) -> [Sample] {
    if resource["resourceType"]?.text == "DocumentReference" {
      return [try FHIRDocument.sample(restText, resource)]
    }
    var samples: [Sample] = []
    for component in resource["component"]?.elements ?? [] {
      guard let text = Self.extensionText(of: component) else { continue }
      _ = try Self.object(text)
      guard let member = try? CanonicalJSON.decode(Sample.self, text) else { throw .malformed("component") }
      samples.append(member)
    }
    samples.append(try sample())
    return samples
  }

  private func sample() throws(Failure) -> Sample {
    let type = try self.type()
    let (source, device) = try agent()
    let (start, end) = try period()
    return Sample(
      uuid: try uuid(), type: type, start: start, end: end, created: try created(), source: source, device: device,
      metadata: try metadata(), payload: try payload(type))
  }

  // MARK: Who and when

  private func uuid() throws(Failure) -> UUID {
    let urns = resource["identifier"]?.elements.filter { $0["system"]?.text == "urn:ietf:rfc:3986" } ?? []
    for urn in urns {
      // A server may assign another id but keeps identifiers.
      if let text = urn["value"]?.text, text.utf8.starts(with: "urn:uuid:".utf8),
        let uuid = UUID(uuidString: String(text.dropFirst(9)))
      {
        return uuid
      }
    }
    guard let uuid = resource["id"]?.text.flatMap(UUID.init(uuidString:)) else { throw .malformed("id") }
    return uuid
  }

  private func type() throws(Failure) -> SampleType {
    if let type = rest["type"]?.text { return SampleType(type) }
    let systems = [FHIRText.appleSystem, FHIRText.ownTypes]
    let coding = resource["code"]?["coding"]?.elements.first { $0["system"]?.text.map(systems.contains) == true }
    guard let code = coding?["code"]?.text else { throw .malformed("code") }
    return SampleType(code)
  }

  private func period() throws(Failure) -> (start: Timestamp, end: Timestamp) {
    var (start, end): (Timestamp?, Timestamp?)
    if let period = resource["effectivePeriod"] {
      (start, end) = (Self.instant(period["start"]), Self.instant(period["end"]))
    } else {
      start = Self.instant(resource["effectiveDateTime"])
      end = start
    }
    if let text = rest["end"] { end = Self.instant(text) }
    guard let start, let end else { throw .malformed("effective time") }
    return (start, end)
  }

  private func created() throws(Failure) -> Timestamp? {
    guard let text = rest["created"] ?? resource["issued"] else { return nil }
    guard let created = Self.instant(text) else { throw .malformed("issued") }
    return created
  }

  private static func instant(_ value: JSONValue?) -> Timestamp? {
    value?.text.flatMap { Timestamp(iso8601: $0) }
  }

  private func agent() throws(Failure) -> (Source, Device?) {
    var (source, device): (Source?, Device?)
    if let contained = resource["contained"]?.elements.first(where: { $0["resourceType"]?.text == "Device" }) {
      (source, device) = FHIRAgent.read(contained)
    }
    if let said = rest["source"] { source = try Self.decoded(Source.self, said, "source") }
    if let said = rest["device"] { device = said == .null ? nil : try Self.decoded(Device.self, said, "device") }
    guard let source else { throw .malformed("device") }
    return (source, device)
  }

  // MARK: What

  private func metadata() throws(Failure) -> Metadata {
    guard let value = rest["metadata"] else { return [:] }
    guard case .object(let members) = value else { throw .malformed("metadata") }
    var metadata: Metadata = [:]
    for (key, value) in members {
      metadata[key] =
        switch value {
        case .string(let text): .string(text)
        case .integer(let integer): .integer(integer)
        case .bool(let flag): .bool(flag)
        default: try Self.decoded(MetadataValue.self, value, "metadata")
        }
    }
    return metadata
  }

  private func payload(_ type: SampleType) throws(Failure) -> Payload {
    if let kind = rest["kind"]?.text { return try payload(of: kind) }
    if let quantity = resource["valueQuantity"] {
      guard let value = quantity["value"]?.double else { throw .malformed("value") }
      return .quantity(
        FHIRQuantity.read(value, unit: quantity["unit"]?.text ?? "", ucum: quantity["code"]?.text))
    }
    let systems = [FHIRText.appleSystem, FHIRText.ownTypes]
    let coding = resource["valueCodeableConcept"]?["coding"]?.elements.first {
      $0["system"]?.text.map(systems.contains) == true
    }
    guard let code = coding?["code"]?.text else { throw .malformed("value") }
    return .category(CategoryValueNames.healthKit.value(exported: code, type: type))
  }

  private func payload(of kind: String) throws(Failure) -> Payload {
    do {
      let json = try payloadText()
      if kind == Quantity.kind { return .quantity(try CanonicalJSON.decode(Quantity.self, json)) }
      return try Payload(kind: kind, number: nil, unit: nil, json: json)
    } catch {
      throw .malformed("payload")
    }
  }

  /// Returns the JSON text of the payload in the extension unchanged, because ``JSONValue`` cannot hold every number.
  private func payloadText() throws -> String {
    var scanner = JSONScanner(source: MemorySource(Array(restText.utf8)), path: "")
    var text = ""
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      // If the member occurs twice, the last one counts, as everywhere.
      if key == "payload" {
        text = String(decoding: try scanner.value(limit: FHIRText.maximumString).bytes, as: UTF8.self)
      } else {
        try scanner.skipValue()
      }
    }
    return text
  }

  private static func decoded<Value: Decodable>(
    _ type: Value.Type, _ value: JSONValue, _ part: String
  ) throws(Failure) -> Value {
    do {
      return try CanonicalJSON.decode(type, CanonicalJSON.encode(value))
    } catch {
      throw .malformed(part)
    }
  }
}
