import Foundation
import HealthAnalysis
import HealthModel
import OperatingSystem
import Synchronization

/// A destination for Home Assistant: sensors, long-term statistics, and HealthPush's component.
struct HomeAssistantDestination: Destination {
  static let description = DestinationDescription(
    DestinationKind("home-assistant"),
    "Keeps sensors in Home Assistant, and the whole history in its long-term statistics.", repetition: .idempotent,
    showsNumbers: true,
    fields: [
      SettingField("url", .url(schemes: ["https", "http"]), "Home Assistant: https://HOST[:PORT].", required: true),
      SettingField(
        "token", .secret, "A long-lived access token (profile, Security), of an administrator where history is kept."),
      SettingField("person", .text, "Whose values these are, in the names of sensors.", asked: true, default: "me"),
      SettingField("states", .boolean, "Keep a sensor for each type, with what holds now.", default: "true"),
      SettingField("history", .boolean, "Keep the numbers of all hours in the long-term statistics.", default: "true"),
      SettingField("webhook-id", .text, "The webhook of the HealthPush component, such as healthpush_iphone."),
      SettingField("webhook-secret", .secret, "Its secret, of ASCII characters."),
    ] + HTTPService.fields)

  /// The capabilities: a long deadline, because history may take minutes, and small batches to limit memory.
  let capabilities = DestinationCapabilities(
    maximumChanges: 5_000, deadline: .seconds(3_600), days: .current, examinationInterval: .seconds(60), purges: true)

  /// The time limit for a check, during which Home Assistant's recorder may have much to write first.
  private static let patience = Duration.seconds(120)

  private let record: RecordReader
  private let service: HTTPService
  private let url: URL
  private let authority: String?
  private let person: String
  private let states: HomeAssistantStates?
  private let history: HomeAssistantHistory?
  private let token: String?
  private let webhook: HealthPushWebhook?
  private let stateFolder: String
  private let historyExamined = LastTime()

  /// The time at which something was last done in this process.
  private final class LastTime: Sendable {
    let instant = Mutex<ContinuousClock.Instant?>(nil)

    /// Returns whether the interval has passed.
    func isDue(every interval: Duration) -> Bool {
      instant.withLock { last in last.map { ContinuousClock.now - $0 >= interval } ?? true }
    }

    func note() { instant.withLock { $0 = .now } }
  }

  static func validate(_ settings: DestinationSettings) throws(SettingsError) {
    try HTTPService.requireAcceptedRisk(settings, url: try settings.url("url"))
    _ = try HomeAssistantPerson.read(settings)
    if let id = settings.optionalText("webhook-id") {
      guard !id.isEmpty, id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"/?#%".utf8.contains($0) }) else {
        throw SettingsError("webhook-id", .invalid("must be the last part of the webhook's address"))
      }
    } else if !settings.has("token") || !settings.boolean("states") && !settings.boolean("history") {
      throw SettingsError("token", .missing("without it only a webhook-id makes something to do."))
    }
  }

  init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
    try Self.validate(settings)
    url = try settings.url("url")
    service = try HTTPService(settings, url: url)
    authority = HTTPService.authority(settings)
    person = try HomeAssistantPerson.read(settings)
    record = environment.record
    stateFolder = environment.stateFolder
    token = try environment.secrets.read("token", of: settings)
    if let token {
      let api = HomeAssistantAPI(service: service, url: url, token: token)
      states = settings.boolean("states") ? HomeAssistantStates(api: api, record: record, person: person) : nil
      history =
        settings.boolean("history")
        ? HomeAssistantHistory(record: record, person: person, stateFolder: environment.stateFolder) : nil
    } else {
      (states, history) = (nil, nil)
    }
    webhook = try Self.webhook(settings, environment, service, url)
  }

  private static func webhook(
    _ settings: DestinationSettings, _ environment: DestinationEnvironment, _ service: HTTPService, _ url: URL
  ) throws(SettingsError) -> HealthPushWebhook? {
    guard let id = settings.optionalText("webhook-id") else { return nil }
    let secret = try environment.secrets.read("webhook-secret", of: settings)
    guard secret?.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) ?? true else {
      throw SettingsError(
        "webhook-secret", .invalid("has characters beyond ASCII, with which HealthPush takes nothing and says nothing"))
    }
    return HealthPushWebhook(service: service, url: url, id: id, secret: secret, record: environment.record)
  }

  func close() async { await service.close() }

  /// Discards what is known of all statistics. Each is cleared and sent again as a whole, whatever `start` is.
  func forget(from start: Timestamp?) async throws { try await HistoryMemory.forgetAll(in: stateFolder) }

  // MARK: Checking

  func check() async throws {
    if let states {
      try await states.requireOwn()
      let probe = states.entity("probe")
      try await DestinationProbe.run {
        try await states.api.setState(probe, .string("probe"), attributes: [:])
      } remove: {
        try await states.api.removeState(probe)
      }
    }
    if let history, let token {
      let late = DeliveryError.temporary(reason: "\(url.host(percentEncoded: false) ?? "") did not answer in time")
      try await within(Self.patience, orThrow: late) { [url, authority] in
        try await HomeAssistantSocket.with(url, token: token, authority: authority) { socket in
          try await history.probe(over: &socket)
        }
      }
    }
    try await webhook?.check()
  }

  // MARK: Examining

  /// Checks the sensors, which each restart deletes, and the statistics, which are lost with the database.
  func examine() async throws -> PlaceState {
    guard let memory = await CurrentMemory.read(in: stateFolder) else { return .intact }
    var losses: [String] = []
    if let states, try await states.areForgotten() { losses.append("its sensors") }
    if let history, let token, historyExamined.isDue(every: .seconds(3_600)) {
      let types = try await record.types()
      let lost = try await HomeAssistantSocket.with(url, token: token, authority: authority) { socket in
        try await history.lost(of: types, over: &socket).count
      }
      historyExamined.note()
      if lost > 0 { losses.append("history of \(lost == 1 ? "a type" : "\(lost) types")") }
    }
    if losses.isEmpty { return states == nil || memory.day == record.today ? .intact : .stale }
    return .incomplete(loss: losses.joined(separator: " and "))
  }

  func mend() async throws {
    guard var memory = await CurrentMemory.read(in: stateFolder) else { return }
    memory.day = record.today
    let types = try await record.types()
    try await states?.update(Set(types), DeliveryKey(description: memory.delivery))
    if let history, let token {
      try await HomeAssistantSocket.with(url, token: token, authority: authority) { socket in
        for type in try await history.lost(of: types, over: &socket) {
          try await history.update(type, changed: [], startsOver: false, over: &socket)
        }
      }
    }
    try await memory.write(in: stateFolder)
  }

  func purge() async throws {
    try await states?.removeAll()
    guard let history, let token else { return }
    try await HomeAssistantSocket.with(url, token: token, authority: authority) { socket in
      try await history.clearOthers(than: [], alsoOf: try await record.types(), over: &socket)
    }
  }

  // MARK: Delivering

  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery {
    let times = ChangedTimes(batch)
    let (today, memory) = (record.today, await CurrentMemory.read(in: stateFolder))
    let changed = times.types.filter(record.filter.passes)
    let present = Set(try await record.types())
    if let states {
      // On a new day, the totals of all types have changed.
      let isAnotherDay = memory.map { $0.day != today } ?? false
      let isAll = batch.startsOver || isAnotherDay ? true : try await states.areForgotten()
      let gone = batch.startsOver ? Set(SampleTypeCatalogue.healthKit.entries.map(\.type)) : []
      try await states.update(isAll ? changed.union(present).union(gone) : changed, key)
    }
    if let webhook { try await webhook.update(batch.startsOver ? changed.union(present) : changed) }
    if let history, let token {
      try await HomeAssistantSocket.with(url, token: token, authority: authority) { socket in
        if batch.startsOver {
          try await history.startOver(with: present, key, over: &socket)
        } else {
          for type in changed.sorted(by: { $0.rawValue < $1.rawValue }) where HistorySeries.exists(of: type) {
            let days = HistorySeries.days(of: type, times)
            try await history.update(type, changed: days, startsOver: false, over: &socket)
          }
        }
      }
    }
    try await CurrentMemory(delivery: key.description, day: today).write(in: stateFolder)
    return Delivery()
  }
}

/// The setting `person` of all kinds that work with Home Assistant.
enum HomeAssistantPerson {
  /// Reads and checks the setting. Throws ``SettingsError`` if it cannot be part of an identifier.
  static func read(_ settings: DestinationSettings) throws(SettingsError) -> String {
    let person = try settings.text("person")
    guard isIdentifier(person) else {
      throw SettingsError(
        "person", .invalid("must be of lower-case letters a to z, digits and single _ between them, such as ada"))
    }
    return person
  }

  /// Returns whether a text is valid in Home Assistant's identifiers: no `_` at the ends, no two in a row.
  static func isIdentifier(_ text: String) -> Bool {
    let parts = text.split(separator: "_", omittingEmptySubsequences: false)
    return text.utf8.count <= 64
      && parts.allSatisfy { part in
        !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
      }
  }
}
