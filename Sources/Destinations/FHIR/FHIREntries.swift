import Foundation
import HealthFormats
import HealthModel
import HealthStore

/// An entry of a Bundle with the sample that it belongs to.
struct FHIREntry: Sendable {
  /// The sample; `nil` for an entry that only accompanies another, and for a probe.
  var sample: SampleReference?
  /// The entry as JSON, without a separating comma.
  var bytes: [UInt8]
}

/// An encoder for the Bundle entries of a batch: deletions, and resources with related samples.
struct FHIREntries: Sendable {
  struct Bundle: Sendable {
    var entries: [FHIREntry] = []
    /// The samples that FHIR cannot represent.
    var refused: [RefusedSample] = []
    /// The samples whose resources are written.
    var written: [SampleReference] = []
    var deleted: [SampleReference] = []
  }

  let record: RecordReader
  let mode: FHIRWriteMode

  private static let pressures = Set(FHIRWriter.pressures)

  /// Encodes a batch. Throws `DecodingError`, `StoreError`.
  func make(_ batch: DeliveryBatch, subject: String) async throws -> Bundle {
    var bundle = Bundle()
    var samples = try batch.additions()
    let correlations = try await correlations(of: samples, batch.deletions)
    // Two pressures form one resource, that of their correlation, whichever arrives first.
    let present = Set(samples.map(\.uuid))
    samples += correlations.filter { !present.contains($0.uuid) }
    var components: [UUID: SampleReference] = [:]
    for case .correlation(let content) in samples.lazy.filter({ $0.type == FHIRWriter.bloodPressure }).map(\.payload) {
      for member in content.members where Self.pressures.contains(member.type) { components[member.uuid] = member }
    }
    var written: Set<UUID> = []
    var writer = FHIRWriter(.lines, exported: .now, subject: .reference(subject), naming: .identifiers)
    for sample in samples where components[sample.uuid] == nil {
      var resource: [UInt8] = []
      guard try writer.append(sample, members: try await record.members(of: sample), to: &resource) else {
        bundle.refused.append(RefusedSample(sample.reference, reason: "FHIR has no place for it"))
        continue
      }
      written.insert(sample.uuid)
      bundle.written.append(sample.reference)
      let type = Self.resourceType(of: sample.type)
      bundle.entries.append(
        entry(resource, sample.uuid, of: subject, type, present.contains(sample.uuid) ? sample.reference : nil))
    }
    // A server deletes first (https://hl7.org/fhir/R4/http.html#trules), and accepts each resource only once.
    var deletions: [FHIREntry] = []
    for tombstone in batch.deletions where written.insert(tombstone.sample.uuid).inserted {
      bundle.deleted.append(tombstone.sample)
      deletions.append(
        Self.deletion(
          of: tombstone.sample.uuid, of: subject, Self.resourceType(of: tombstone.sample.type), tombstone.sample))
    }
    for member in components.values.sorted(by: { $0.uuid.uuidString < $1.uuid.uuidString })
    where written.insert(member.uuid).inserted {
      deletions.append(Self.deletion(of: member.uuid, of: subject, "Observation", nil))
    }
    bundle.entries = deletions + bundle.entries
    return bundle
  }

  /// Returns the blood pressure correlations that have any of these samples as members.
  private func correlations(of samples: [Sample], _ deletions: [Tombstone]) async throws -> [Sample] {
    let type = FHIRWriter.bloodPressure
    guard record.filter.passes(type) else { return [] }
    let members = samples.map(\.reference) + deletions.map(\.sample)
    let changed = Dictionary(
      members.filter { Self.pressures.contains($0.type) }.map { ($0.uuid, $0) }, uniquingKeysWith: { first, _ in first }
    )
    var found: [UUID: Sample] = [:]
    for start in Set(changed.values.map(\.start.seconds)) {
      let (end, isTooFar) = start.addingReportingOverflow(1)
      guard !isTooFar, FHIRWriter.canSay(Timestamp(seconds: start)) else { continue }
      let range = Timestamp(seconds: start)..<Timestamp(seconds: end)
      for sample in try await record.store.samples.page(of: type, in: range, from: record.filter.sources, limit: 16)
      where record.filter.passes(sample) {
        guard case .correlation(let content) = sample.payload else { continue }
        if content.members.contains(where: { changed[$0.uuid] != nil }) {
          found[sample.uuid] = record.told(sample)
        }
      }
    }
    return found.values.sorted { $0.uuid.uuidString < $1.uuid.uuidString }
  }

  // MARK: Entries

  private static func resourceType(of type: SampleType) -> String {
    type.rawValue.utf8.starts(with: "HKClinicalTypeIdentifier".utf8) ? "DocumentReference" : "Observation"
  }

  /// Returns the search parameters for a patient's resource, percent-encoded.
  ///
  /// They include the patient, because two machines that send the same record create two patients with resources of
  /// their own.
  private static func condition(_ uuid: UUID, of subject: String) -> String {
    "identifier=urn:ietf:rfc:3986%7Curn:uuid:\(uuid.uuidString.lowercased())&subject=\(FHIRServer.escaped(subject))"
  }

  /// Returns the search for the resource of a patient's sample: `Observation?identifier=…&subject=…`.
  static func search(for sample: SampleReference, of subject: String) -> String {
    "\(resourceType(of: sample.type))?\(condition(sample.uuid, of: subject))"
  }

  private func entry(
    _ resource: [UInt8], _ uuid: UUID, of subject: String, _ type: String, _ sample: SampleReference?
  ) -> FHIREntry {
    let condition = Self.condition(uuid, of: subject)
    let request =
      switch mode {
      case .update: #"{"method":"PUT","url":"\#(type)?\#(condition)"}"#
      case .create: #"{"method":"POST","url":"\#(type)","ifNoneExist":"\#(condition)"}"#
      }
    var bytes = Array(#"{"fullUrl":"urn:uuid:\#(uuid.uuidString.lowercased())","resource":"#.utf8)
    bytes += resource.last == UInt8(ascii: "\n") ? resource.dropLast() : resource[...]
    bytes += #","request":\#(request)}"#.utf8
    return FHIREntry(sample: sample, bytes: bytes)
  }

  static func deletion(
    of uuid: UUID, of subject: String, _ type: String, _ sample: SampleReference?
  ) -> FHIREntry {
    let url = "\(type)?\(condition(uuid, of: subject))"
    return FHIREntry(sample: sample, bytes: Array(#"{"request":{"method":"DELETE","url":"\#(url)"}}"#.utf8))
  }

  /// Returns an Observation with the status entered-in-error.
  static func probe(_ uuid: UUID, subject: String) -> FHIREntry {
    let id = uuid.uuidString.lowercased()
    let resource = """
      {"resourceType":"Observation","identifier":[{"system":"urn:ietf:rfc:3986","value":"urn:uuid:\(id)"}],\
      "status":"entered-in-error","code":{"text":"Test"},"subject":{"reference":"\(subject)"},\
      "effectiveDateTime":"\(Timestamp(seconds: Timestamp.now.seconds).iso8601)","valueString":"Test"}
      """
    return FHIREntry(
      sample: nil,
      bytes: Array(
        #"{"fullUrl":"urn:uuid:\#(id)","resource":\#(resource),"request":{"method":"PUT","url":"Observation?\#(condition(uuid, of: subject))"}}"#
          .utf8))
  }
}
