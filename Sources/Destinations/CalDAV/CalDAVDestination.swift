import Foundation
import HealthFormats
import HealthModel

/// A destination for events in a CalDAV calendar: workouts and, if enabled, nights and milestones.
///
/// Every event has a name and a UID that never change, so that a repeated batch changes nothing.
struct CalDAVDestination: Destination {
  static let description = DestinationDescription(
    DestinationKind("caldav"), "Events in a calendar: workouts, nights, milestones.", repetition: .idempotent,
    fields: [
      SettingField("url", .url(schemes: ["https", "http"]), "The calendar itself, not the server.", required: true),
      SettingField("username", .text, "Who the server knows you as."),
      SettingField("password", .secret, "Its password, best one for this program only."),
      SettingField("create", .boolean, "Make the calendar where it is missing.", default: "true"),
      SettingField("display-name", .text, "What a calendar that is made is called.", default: "Health"),
      SettingField("workouts", .boolean, "An event for each workout.", default: "true"),
      SettingField("nights", .boolean, "An event for each night's sleep.", default: "false"),
      SettingField(
        "milestones", .table, "Totals of a day, each an event when it is reached: stepCount = \"10000\"."),
    ] + HTTPService.fields)

  /// The capabilities. An event is a request, and a calendar may be slow, so the deadline is long.
  var capabilities: DestinationCapabilities {
    DestinationCapabilities(
      maximumChanges: 500, deadline: .seconds(900), days: days.isEmpty ? .none : .named, purges: true)
  }
  private let calendar: CalendarCollection
  private let service: HTTPService
  private let lastDelivered: LastDelivered
  private let hasWorkouts: Bool
  private let days: CalendarDays

  static func validate(_ settings: DestinationSettings) throws(SettingsError) {
    try HTTPService.requireAcceptedRisk(settings, url: try settings.url("url"))
    guard settings.optionalText("username")?.contains(":") != true else {
      throw SettingsError("username", .invalid("has a colon, which it may not have"))
    }
    _ = try milestones(settings.table("milestones"))
    switch (settings.has("username"), settings.has("password")) {
    case (true, false): throw SettingsError("password", .missing("It belongs to username."))
    case (false, true): throw SettingsError("username", .missing("It belongs to password."))
    default: break
    }
  }

  init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
    try Self.validate(settings)
    let url = try settings.url("url")
    var authorization: [(name: String, value: String)] = []
    if let user = settings.optionalText("username"),
      let password = try environment.secrets.read("password", of: settings)
    {
      authorization = [HTTPHeaderText.basic(user, password)]
    }
    lastDelivered = LastDelivered(in: environment.stateFolder)
    hasWorkouts = settings.boolean("workouts")
    days = CalendarDays(
      record: environment.record, hasNights: settings.boolean("nights"),
      milestones: try Self.milestones(settings.table("milestones")))
    service = try HTTPService(settings, url: url, timeout: .seconds(30))
    calendar = CalendarCollection(
      service, url: url.absoluteString, authorization: authorization,
      displayName: settings.boolean("create") ? try settings.text("display-name") : nil,
      record: environment.record.store.id.uuidString.lowercased(), destination: environment.name)
  }

  /// Parses milestones: `stepCount = "10000"`, `distanceWalkingRunning = "10 km"`.
  private static func milestones(_ table: [String: String]) throws(SettingsError) -> [CalendarDays.Milestone] {
    var milestones: [CalendarDays.Milestone] = []
    for (name, text) in table.sorted(by: { $0.key < $1.key }) {
      guard let type = SampleTypeCatalogue.healthKit.type(named: name), let entry = SampleTypeCatalogue.healthKit[type]
      else { throw SettingsError("milestones", .invalid("has an unknown type: \(name)")) }
      guard !milestones.contains(where: { $0.type == type }) else {
        throw SettingsError("milestones", .invalid("has \(name), which is there twice"))
      }
      let words = text.split(separator: " ", maxSplits: 1).map(String.init)
      guard let threshold = words.first.flatMap(Double.init), threshold.isFinite, threshold > 0 else {
        throw SettingsError("milestones", .invalid("has no number for \(name), such as \"10000\" or \"10 km\""))
      }
      guard entry.aggregation == .cumulative else {
        throw SettingsError("milestones", .invalid("has \(name), which is not added up over a day"))
      }
      let unit = words.count > 1 ? words[1] : nil
      if let unit, UnitConversion.convert(1, from: entry.canonicalUnit ?? "", to: unit) == nil {
        throw SettingsError("milestones", .invalid("has a unit for \(name) that it is not measured in: \(unit)"))
      }
      milestones.append(
        CalendarDays.Milestone(
          type: type, threshold: threshold, unit: unit ?? entry.canonicalUnit, name: entry.shortName))
    }
    return milestones
  }

  /// Writes an event and deletes it. Creates the calendar if it is missing.
  func check() async throws {
    let key = "test-\(UUID().uuidString.lowercased())"
    let name = CalendarCollection.name(key)
    let now = Timestamp.now
    let event = CalendarEvent(
      uid: key, stamp: now, time: .instants(start: now, end: now), summary: "Test", category: "Test")
    try await DestinationProbe.run {
      if case .refused(let reason) = try await calendar.put(event, named: name) {
        throw DeliveryError.unusable(reason: reason)
      }
    } remove: { [calendar] in
      try await calendar.delete(name)
    }
  }

  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery {
    var refused: [RefusedSample] = []
    // If the calendar has lost its events, the events of this batch must not hide that from a later examination.
    let isKnown = batch.startsOver ? true : try await examine() == .intact
    await calendar.begin(key)
    if batch.startsOver { try await calendar.deleteOld() }
    if hasWorkouts {
      for tombstone in batch.deletions where tombstone.sample.type == .workout {
        try await calendar.delete(Self.name(tombstone.sample))
      }
      for row in batch.changes.samples where batch.changes.types[Int(row.type)] == .workout {
        let sample = try batch.changes.sample(row)
        guard let event = CalendarEvent(workout: sample) else { continue }
        if case .refused(let reason) = try await calendar.put(event, named: Self.name(sample.reference)) {
          refused.append(RefusedSample(sample.reference, reason: reason))
        }
      }
    }
    if !days.isEmpty { try await update(try await days.changes(of: batch)) }
    let (written, deleted) = await calendar.namesOfDelivery()
    if isKnown { try await lastDelivered.note(written, deleted: deleted) }
    return Delivery(refused: refused)
  }

  func examine() async throws -> PlaceState {
    try await lastDelivered.examine("events") { try await calendar.isThere($0) }
  }

  func forget(from start: Timestamp?) async throws {
    let names = await lastDelivered.read()
    try await lastDelivered.note([], deleted: Set(names))
  }

  /// Writes the events of whole days. A refused event adds no dead letter, because many samples contribute to it. It
  /// is written again with the next change of its day.
  private func update(_ changes: [CalendarDays.Change]) async throws {
    for change in changes {
      if let event = change.event {
        _ = try await calendar.put(event, named: change.name)
      } else if try await calendar.list().contains(change.name) {
        try await calendar.delete(change.name)
      }
    }
  }

  /// Deletes events of nights and milestones that match no day of the current time zone. Other events stay.
  func withdrawDays() async throws {
    for change in try await days.changes(named: try await calendar.list()) where change.event == nil {
      try await calendar.delete(change.name)
    }
  }

  func close() async { await service.close() }

  private static func name(_ workout: SampleReference) -> String {
    CalendarCollection.name(workout.uuid.uuidString.lowercased())
  }
}
