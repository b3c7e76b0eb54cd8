import Foundation
import HealthFormats
import HealthModel

/// A destination that sends samples to a server as FHIR R4 resources, in Bundles. Each entry is conditional on an
/// identifier derived from the sample's UUID, so that a repeated entry creates no duplicate.
struct FHIRDestination: Destination {
  static let description = DestinationDescription(
    DestinationKind("fhir"), "FHIR R4 resources on a server: Observations, in Bundles.", repetition: .byKey,
    fields: [
      SettingField(
        "url", .url(schemes: ["https", "http"]), "The base address of the server, such as https://example.org/fhir.",
        required: true),
      SettingField("token", .secret, "A token, sent as Authorization: Bearer."),
      SettingField(
        "subject", .text, "The patient that is there already, such as Patient/123; otherwise one is made."),
      SettingField(
        "bundle", .choice(FHIRBundleKind.allCases.map(\.rawValue)),
        "Whether all of a Bundle is taken or nothing (transaction), or each entry for itself (batch).",
        default: FHIRBundleKind.transaction.rawValue),
      SettingField(
        "write", .choice(FHIRWriteMode.allCases.map(\.rawValue)),
        "Whether a resource that is there is replaced (update), or left as it is (create).",
        default: FHIRWriteMode.update.rawValue),
      SettingField("batch", .integer(1...1_000), "The most samples and deletions of one Bundle.", default: "200"),
      SettingField("timeout", .integer(1...3_600), "How many seconds a Bundle may take.", default: "60"),
    ] + HTTPService.fields)

  let capabilities: DestinationCapabilities
  private let server: FHIRServer
  private let entries: FHIREntries
  private let lastDelivered: LastDelivered
  private let record: RecordReader
  private let subject: FHIRSubject

  static func validate(_ settings: DestinationSettings) throws(SettingsError) {
    try HTTPService.requireAcceptedRisk(settings, url: try settings.url("url"))
    if let subject = settings.optionalText("subject"), !FHIRWriter.isReference(subject) {
      throw SettingsError("subject", .invalid("is no reference, such as Patient/123"))
    }
  }

  init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
    try Self.validate(settings)
    let url = try settings.url("url")
    let timeout = Duration.seconds(try settings.integer("timeout"))
    record = environment.record
    capabilities = DestinationCapabilities(
      maximumChanges: try settings.integer("batch"),
      // A Bundle is sent again without refused entries.
      deadline: timeout * 4, purges: true)
    lastDelivered = LastDelivered(in: environment.stateFolder)
    server = FHIRServer(
      try HTTPService(settings, url: url, timeout: timeout), url: url.absoluteString,
      token: try environment.secrets.read("token", of: settings),
      kind: FHIRBundleKind(rawValue: try settings.text("bundle")) ?? .transaction)
    entries = FHIREntries(record: record, mode: FHIRWriteMode(rawValue: try settings.text("write")) ?? .update)
    subject = FHIRSubject(given: settings.optionalText("subject"), server: server, record: record)
  }

  /// Writes an Observation for the patient and deletes it.
  func check() async throws {
    let probe = UUID()
    let reference = try await subject.reference()
    let send = { @Sendable [server] (entry: FHIREntry) async throws -> Void in
      if let refusal = try await server.send([entry]).first { throw DeliveryError.unusable(reason: refusal.reason) }
    }
    try await DestinationProbe.run {
      try await send(FHIREntries.probe(probe, subject: reference))
    } remove: {
      try await send(FHIREntries.deletion(of: probe, of: reference, "Observation", nil))
    }
  }

  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery {
    let reference = try await subject.reference()
    // If the server has lost its resources, those of this batch must not hide that from a later examination.
    let isKnown = batch.startsOver ? true : try await examine() == .intact
    if batch.startsOver { try await server.deleteAll(of: reference) }
    let bundle = try await entries.make(batch, subject: reference)
    if bundle.entries.isEmpty { return Delivery(refused: bundle.refused) }
    let refused = try await server.send(bundle.entries)
    let isRefused = Set(refused.compactMap { $0.sample?.uuid })
    if isKnown {
      try await lastDelivered.note(
        bundle.written.filter { !isRefused.contains($0.uuid) }.map { FHIREntries.search(for: $0, of: reference) },
        deleted: Set(bundle.deleted.map { FHIREntries.search(for: $0, of: reference) }))
    }
    return Delivery(
      refused: bundle.refused
        + refused.compactMap { refusal in refusal.sample.map { RefusedSample($0, reason: refusal.reason) } })
  }

  /// Checks whether the server has the last resources, if the token may search.
  func examine() async throws -> PlaceState {
    try await lastDelivered.examine("resources") { try await server.mayHave($0) }
  }

  func forget(from start: Timestamp?) async throws {
    let names = await lastDelivered.read()
    try await lastDelivered.note([], deleted: Set(names))
  }

  func close() async { await server.close() }
}

/// The way in which a server processes a Bundle (https://hl7.org/fhir/R4/http.html#transaction).
enum FHIRBundleKind: String, CaseIterable, Sendable {
  case transaction, batch
}

/// The treatment of a resource that exists.
enum FHIRWriteMode: String, CaseIterable, Sendable {
  /// A conditional update, which replaces an existing resource.
  case update
  /// A conditional create, which keeps an existing resource.
  case create
}

/// The patient of all resources: named in the settings, or created once with the store's identifier.
actor FHIRSubject {
  private let server: FHIRServer
  private let record: RecordReader
  private var known: String?

  init(given: String?, server: FHIRServer, record: RecordReader) {
    (known, self.server, self.record) = (given, server, record)
  }

  /// Returns the reference to the patient, `Patient/123`, and creates the patient if necessary.
  func reference() async throws -> String {
    if let known { return known }
    var person = try await record.store.person()
    for trait in Person.Trait.allCases where !record.filter.passes(trait.type) { person[trait] = nil }
    let id = record.store.id
    var writer = FHIRWriter(.lines, exported: .now, subject: .patient(id))
    var bytes: [UInt8] = []
    writer.begin(person: person, into: &bytes)
    let made = try await server.create(
      "Patient", bytes, unless: "identifier=urn:hpeer:fhir:store%7C\(id.uuidString.lowercased())")
    known = made
    return made
  }
}
