import Foundation
import HealthModel

/// Writes samples as FHIR R4 observations, in a `Bundle` or as NDJSON (`docs/reference/formats/fhir.md`).
///
/// ```swift
/// func write(_ samples: [Sample]) throws -> [UInt8] {
///   var writer = FHIRWriter(.lines, exported: Timestamp(seconds: 1_718_447_400), subject: .reference("Patient/ada"))
///   var bytes: [UInt8] = []
///   writer.begin(person: Person(), into: &bytes)
///   for sample in samples where try !writer.append(sample, members: [], to: &bytes) { print("left out", sample.type) }
///   writer.end(into: &bytes)
///   return bytes
/// }
/// ```
///
/// Data that FHIR cannot express is in an extension, so that ``SampleFile`` restores the samples.
public struct FHIRWriter {
  /// The arrangement of resources in a file.
  public enum Form: Sendable, CaseIterable {
    /// A single `Bundle` of type `collection`, in JSON.
    case bundle
    /// NDJSON with one resource a line, as in FHIR Bulk Data.
    case lines
  }

  /// The way in which resources identify themselves and refer to others.
  public enum Naming: Sendable {
    /// Ids, which are UUIDs, for files.
    case ids
    /// Identifiers only, for a server that assigns ids itself and may lack some of the other resources.
    case identifiers
  }

  /// The person to whom the samples belong.
  public enum Subject: Hashable, Sendable {
    /// A `Patient` with this id, which is written first.
    case patient(UUID)
    /// A reference to a `Patient` elsewhere, such as `Patient/123`.
    case reference(String)
  }

  /// The result of writing a page of samples.
  public struct Page {
    /// The number of samples in the file, including components of other samples.
    public var written = 0
    /// The number of samples that are not in the file.
    public var omitted = 0
    /// The correlations, not yet written. Pass each to ``FHIRWriter/append(_:members:to:)`` with its members.
    public var correlations: [Sample] = []
  }

  private let form: Form
  private let naming: Naming
  private let exported: Timestamp
  private let subject: Subject
  private let map: FHIRMap
  private let subjectMember: [UInt8]
  /// The members of blood pressures, which are written as components.
  private var components: Set<Component> = []
  private var isFirst = true

  /// The identity of a pressure. The sample's type says whether it is systolic.
  private struct Component: Hashable {
    var uuid: UUID
    var start: Timestamp
  }

  /// The type of correlations whose members are written as components.
  public static let bloodPressure = SampleType("HKCorrelationTypeIdentifierBloodPressure")
  /// The types of the members of a blood pressure.
  public static let pressures = [
    SampleType("HKQuantityTypeIdentifierBloodPressureSystolic"),
    SampleType("HKQuantityTypeIdentifierBloodPressureDiastolic"),
  ]

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - exported: the export time stated in a bundle.
  ///   - naming: the naming of observations and documents; the patient of ``Subject/patient(_:)`` always has an id.
  public init(
    _ form: Form, exported: Timestamp, subject: Subject, map: FHIRMap = .standard, naming: Naming = .ids
  ) {
    (self.form, self.exported, self.subject, self.map) = (form, exported, subject, map)
    self.naming = naming
    var member: [UInt8] = []
    member.append(",\"subject\":{\"reference\":")
    switch subject {
    case .patient(let id):
      member.append("\"")
      member.append(form == .bundle ? "urn:uuid:" : "Patient/")
      member.append(lowercased: id)
      member.append("\"")
    case .reference(let reference): member.append(quoted: reference)
    }
    member.append("}")
    subjectMember = member
  }

  /// Returns whether a text is valid for ``Subject/reference(_:)``.
  public static func isReference(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 1_000
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !#"<>"\^`{|}"#.utf8.contains($0) }
  }

  /// Returns whether a FHIR date can express an instant in any time zone: the years 1 to 9999.
  public static func canSay(_ instant: Timestamp) -> Bool { FHIRText.canSay(instant) }

  /// Writes the beginning of the file, including the patient.
  public mutating func begin(person: Person, into bytes: inout [UInt8]) {
    if form == .bundle {
      bytes.append("{\"resourceType\":\"Bundle\",\"type\":\"collection\",\"timestamp\":\"")
      exported.append(to: &bytes)
      bytes.append("\",\"entry\":[")
    }
    guard case .patient(let id) = subject else { return }
    begin(resource: id, to: &bytes)
    bytes.append("{\"resourceType\":\"Patient\",\"id\":\"")
    bytes.append(lowercased: id)
    bytes.append("\",\"identifier\":[{\"system\":\"urn:hpeer:fhir:store\",\"value\":\"")
    bytes.append(lowercased: id)
    bytes.append("\"}]")
    switch person[.biologicalSex] {
    case "HKBiologicalSexFemale": bytes.append(",\"gender\":\"female\"")
    case "HKBiologicalSexMale": bytes.append(",\"gender\":\"male\"")
    case "HKBiologicalSexOther": bytes.append(",\"gender\":\"other\"")
    default: break
    }
    if let born = person[.dateOfBirth], born.utf8.count == 10, Timestamp(iso8601: born).map(FHIRText.canSay) == true {
      bytes.append(",\"birthDate\":")
      bytes.append(quoted: born)
    }
    bytes.append("}")
    endResource(&bytes)
  }

  /// Registers a blood pressure whose members are written as its components, not on their own. Call this for every
  /// blood pressure to be written, before the first sample.
  public mutating func expect(_ correlation: Sample) {
    guard correlation.type == Self.bloodPressure, FHIRText.canSay(correlation.start),
      case .correlation(let content) = correlation.payload
    else { return }
    for member in content.members where Self.pressures.contains(member.type) {
      components.insert(Component(uuid: member.uuid, start: member.start))
    }
  }

  /// Writes all samples of a page except its correlations.
  ///
  /// - Throws: `DecodingError` if a text in the page is malformed.
  public mutating func append(_ changes: CodedChanges, to bytes: inout [UInt8]) throws -> Page {
    var page = Page()
    var forms = try FHIRPage(changes, map: map, subject: subjectMember)
    for row in changes.samples {
      if changes.kinds[Int(row.kind)] == Correlation.kind {
        page.correlations.append(try changes.sample(row))
      } else if !components.isEmpty, components.contains(Component(uuid: row.uuid, start: row.start)),
        Self.pressures.contains(changes.types[Int(row.type)])
      {
        page.written += 1
      } else if try append(row, &forms, members: [], to: &bytes) {
        page.written += 1
      } else {
        page.omitted += 1
      }
    }
    return page
  }

  /// Writes one sample.
  ///
  /// - Parameter members: the available members of a correlation; empty for other samples.
  /// - Returns: false, and nothing is written, if FHIR cannot express the sample.
  public mutating func append(_ sample: Sample, members: [Sample], to bytes: inout [UInt8]) throws -> Bool {
    var coder = ChangeCoder()
    try coder.add(sample)
    let changes = coder.changes
    var forms = try FHIRPage(changes, map: map, subject: subjectMember)
    guard let row = changes.samples.first else { return false }
    return try append(row, &forms, members: members, to: &bytes)
  }

  /// Writes the end of the file, after the last sample.
  public func end(into bytes: inout [UInt8]) {
    if form == .bundle { bytes.append("\n]}\n") }
  }

  // MARK: Resources

  private mutating func begin(resource id: UUID, to bytes: inout [UInt8]) {
    switch form {
    case .lines: break
    case .bundle:
      bytes.append(isFirst ? "\n" : ",\n")
      bytes.append("{\"fullUrl\":\"urn:uuid:")
      bytes.append(lowercased: id)
      bytes.append("\",\"resource\":")
    }
    isFirst = false
  }

  private func endResource(_ bytes: inout [UInt8]) {
    switch form {
    case .lines: bytes.append("\n")
    case .bundle: bytes.append("}")
    }
  }

  private mutating func append(
    _ row: CodedSample, _ page: inout FHIRPage, members: [Sample], to bytes: inout [UInt8]
  ) throws -> Bool {
    let kind = page.changes.kinds[Int(row.kind)]
    // FHIR has no element for a route.
    guard FHIRText.canSay(row.start), kind != WorkoutRoute.kind else { return false }
    if kind == ClinicalRecord.kind {
      let sample = try page.changes.sample(row)
      if case .clinicalRecord(let record) = sample.payload { return try append(sample, record, row, &page, to: &bytes) }
    }
    let links: FHIRLinks = naming == .identifiers ? .identifiers : form == .bundle ? .bundle : .paths
    let body = try FHIRBody(row, kind: kind, &page, map: map, links: links, members: members)
    let agent = try page.agent(row)
    let type = page.type(row, fitsCodes: body.fitsCodes)
    let metadata = page.metadata(of: row)
    var rest = agent.rest
    if let member = type.rest { rest.append(member) }
    if let member = metadata?.rest { rest.append(member) }
    rest += body.rest
    // A FHIR period may not end before it starts.
    let hasEnd = row.end >= row.start && FHIRText.canSay(row.end)
    if !hasEnd { rest.append(FHIRPage.member("end", text: row.end.iso8601)) }
    let hasCreated = row.created.map(FHIRText.canSay) ?? true
    if let created = row.created, !hasCreated { rest.append(FHIRPage.member("created", text: created.iso8601)) }
    guard rest.reduce(0, { $0 + $1.count + 1 }) < FHIRText.maximumString else { return false }

    begin(resource: row.uuid, to: &bytes)
    bytes.append("{\"resourceType\":\"Observation\"")
    if naming == .ids { bytes.append(id: row.uuid) }
    bytes.append(contentsOf: type.meta)
    bytes.append(contentsOf: agent.contained)
    bytes.append(",\"extension\":[{\"url\":\"urn:hpeer:fhir:sample\",\"valueString\":\"{")
    for (index, member) in rest.enumerated() {
      if index > 0 { bytes.append(",") }
      bytes.append(contentsOf: member)
    }
    bytes.append("}\"}],\"identifier\":[{\"system\":\"urn:ietf:rfc:3986\",\"value\":\"urn:uuid:")
    bytes.append(lowercased: row.uuid)
    bytes.append("\"}")
    // HealthKit's own UUIDs are random (version 4). Derived UUIDs are known to hpeer only.
    if row.uuid.uuid.6 >> 4 == 4 {
      bytes.append(",{\"system\":\"com.apple.health\",\"value\":\"")
      row.uuid.append(to: &bytes)
      bytes.append("\"}")
    }
    bytes.append("]")
    bytes.append(contentsOf: type.code)
    if hasEnd, row.end > row.start {
      bytes.append(",\"effectivePeriod\":{\"start\":\"")
      FHIRText.append(row.start, in: metadata?.zone, to: &bytes)
      bytes.append("\",\"end\":\"")
      FHIRText.append(row.end, in: metadata?.zone, to: &bytes)
      bytes.append("\"}")
    } else {
      bytes.append(",\"effectiveDateTime\":\"")
      FHIRText.append(row.start, in: metadata?.zone, to: &bytes)
      bytes.append("\"")
    }
    if let created = row.created, hasCreated {
      bytes.append(",\"issued\":\"")
      FHIRText.append(created, in: metadata?.zone, to: &bytes)
      bytes.append("\"")
    }
    bytes.append(contentsOf: body.value)
    bytes.append(contentsOf: agent.reference)
    bytes.append(contentsOf: body.parts)
    bytes.append("}")
    endResource(&bytes)
    return true
  }

  private mutating func append(
    _ sample: Sample, _ record: ClinicalRecord, _ row: CodedSample, _ page: inout FHIRPage, to bytes: inout [UInt8]
  ) throws -> Bool {
    var document: [UInt8] = []
    guard
      try FHIRDocument.append(
        sample, record, agent: try page.agent(row), map: map, subject: subjectMember, naming: naming, to: &document)
    else { return false }
    begin(resource: sample.uuid, to: &bytes)
    bytes.append(contentsOf: document)
    endResource(&bytes)
    return true
  }
}
