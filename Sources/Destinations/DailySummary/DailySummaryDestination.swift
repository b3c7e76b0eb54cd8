import Foundation
import HealthAnalysis
import HealthModel

/// A destination that posts each new or changed day as an object in P247's format: numbers, sleep, workouts.
struct DailySummaryDestination: Destination {
  static let description = DestinationDescription(
    DestinationKind("daily-summary"), "Posts an object for each day: numbers, sleep, workouts, as P247 takes them.",
    repetition: .idempotent,
    fields: [
      SettingField("url", .url(schemes: ["https", "http"]), "Where days are posted to.", required: true),
      SettingField("key", .secret, "The API key."),
      SettingField(
        "key-header", .text, "The header that the key is in; after Bearer, if it is Authorization.",
        default: "Authorization"),
      SettingField("headers", .table, "Other headers, by name."),
      SettingField(
        "days", .integer(0...36_525), "How many days up to today are sent at first; 0 for all.", default: "14"),
      SettingField("days-per-request", .integer(1...366), "How many days one request has.", default: "1"),
      SettingField(
        "metrics", .table,
        "Numbers of a day by their keys, beside the usual ones: TYPE [sum|mean|min|max|last] [UNIT] [DECIMALS]; empty leaves one out."
      ),
    ] + HTTPService.fields)

  let capabilities = DestinationCapabilities(
    maximumChanges: 20_000, deadline: .seconds(3_600), days: .all, purges: true)

  /// The number of days whose objects are computed at once.
  private static let chunk = 64

  private var record: RecordReader
  private let metrics: DailyMetrics
  private let service: HTTPService
  private let url: URL
  private let headers: [(name: String, value: String)]
  private let days: Int
  private let daysPerRequest: Int
  private let stateFolder: String
  private let progress: @Sendable (String) -> Void

  static func validate(_ settings: DestinationSettings) throws(SettingsError) {
    try HTTPService.requireAcceptedRisk(settings, url: try settings.url("url"))
    _ = try DailyMetrics(settings.table("metrics"))
    for (name, value) in settings.table("headers").sorted(by: { $0.key < $1.key }) {
      guard HTTPHeaderText.isName(name), HTTPHeaderText.isValue(value) else {
        throw SettingsError("headers", .invalid("has \(name), which cannot be a header"))
      }
      let own = settings.has("key") ? ["content-type", try settings.text("key-header").lowercased()] : ["content-type"]
      if own.contains(name.lowercased()) {
        throw SettingsError("headers", .invalid("has \(name), which hpeer sets itself"))
      }
    }
    guard HTTPHeaderText.isName(try settings.text("key-header")) else {
      throw SettingsError("key-header", .invalid("is no header's name"))
    }
  }

  init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
    try Self.validate(settings)
    url = try settings.url("url")
    service = try HTTPService(settings, url: url)
    metrics = try DailyMetrics(settings.table("metrics"))
    days = try settings.integer("days")
    daysPerRequest = try settings.integer("days-per-request")
    record = environment.record
    stateFolder = environment.stateFolder
    progress = environment.progress
    var headers = settings.table("headers").sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    if let key = try environment.secrets.read("key", of: settings) {
      let name = try settings.text("key-header")
      guard HTTPHeaderText.isValue(key) else {
        throw SettingsError("key", .invalid("has characters that no header may have"))
      }
      headers.append((name, name.caseInsensitiveCompare("Authorization") == .orderedSame ? "Bearer \(key)" : key))
    }
    headers.append(("Content-Type", "application/json"))
    self.headers = headers
  }

  func close() async { await service.close() }

  func forget(from start: Timestamp?) async throws {
    var memory = await DailyMemory.read(in: stateFolder)
    try await memory.doubt(from: start.map { record.zone.dayNumber(at: $0.seconds) })
  }

  /// Posts an empty object for each day that was sent.
  func purge() async throws {
    var emptied = self
    emptied.record = RecordReader(record.store, filter: SampleFilter(types: []), zone: record.zone)
    _ = try await emptied.deliver(.empty(startsOver: true), key: .purging)
  }

  /// Posts an empty list of days: a server that complains about missing days has accepted the key.
  func check() async throws {
    let response = try await post([])
    guard (200..<300).contains(response.status) || [400, 422].contains(response.status) else { throw refusal(response) }
  }

  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery {
    let now = Timestamp.now
    let objects = DayObjects(record: record, metrics: metrics, now: now)
    let today = record.zone.dayNumber(at: now.seconds)
    var memory = await DailyMemory.read(in: stateFolder)
    let wanted = days == 0 ? try await objects.firstDay() ?? today : today - days + 1
    if batch.startsOver { try await memory.beginAnew(with: wanted, key) }
    if memory.first.map({ wanted < $0 }) ?? true { try await memory.begin(with: wanted, trusts: true) }
    let first = memory.first ?? today
    guard first <= today else { return Delivery() }
    var candidates = objects.changed(ChangedTimes(batch)).intersection(first...today)
    // Adds days that an earlier attempt didn't reach, and days that the setting now includes.
    candidates.formUnion((first...today).filter { memory.prints[$0] == nil })
    if batch.startsOver { candidates.formUnion(memory.prints.keys.filter { $0 <= today }) }
    let refused = try await send(candidates, objects, &memory)
    return Delivery(refused: try await objects.refused(refused, of: batch))
  }

  private typealias Waiting = (day: Int, object: [String: JSONValue], print: String)

  /// Sends the days whose objects have changed.
  ///
  /// - Returns: the reasons of the days that were refused permanently.
  private func send(
    _ days: Set<Int>, _ objects: DayObjects, _ memory: inout DailyMemory
  ) async throws -> [Int: String] {
    var waiting: [Waiting] = []
    var refused: [Int: String] = [:]
    var done = 0
    for run in days.runs {
      for start in stride(from: run.lowerBound, through: run.upperBound, by: Self.chunk) {
        let chunk = start...min(start + Self.chunk - 1, run.upperBound)
        let found = try await objects.objects(of: chunk)
        var unsent: [Int: String] = [:]
        for day in chunk {
          done += 1
          guard let object = found[day] ?? (memory.hasSent(day) ? objects.empty(day) : nil) else {
            if memory.prints[day] == nil { unsent[day] = DailyMemory.unsent }
            continue
          }
          let print = try DailyMemory.print(object)
          guard memory.prints[day] != print else { continue }
          waiting.append((day, object, print))
          guard waiting.count == daysPerRequest else { continue }
          progress("Syncing \(done)/\(days.count) days...")
          refused.merge(try await flush(waiting, objects.now, &memory)) { $1 }
          waiting = []
        }
        try await memory.add(unsent)
      }
    }
    if !waiting.isEmpty {
      progress("Syncing \(done)/\(days.count) days...")
      refused.merge(try await flush(waiting, objects.now, &memory)) { $1 }
    }
    return refused
  }

  /// Sends some days in one request, and halves the request if it is refused.
  private func flush(_ waiting: [Waiting], _ now: Timestamp, _ memory: inout DailyMemory) async throws -> [Int: String]
  {
    let stamp = JSONValue.string(record.zone.text(Timestamp(seconds: now.seconds)))
    let response = try await post(
      waiting.map { JSONValue.object($0.object.merging(["device_sync_timestamp": stamp]) { $1 }) })
    if Self.refusals.contains(response.status) {
      guard waiting.count > 1 else {
        // The day is sent again when it changes or when everything is delivered again.
        try await memory.add(waiting.reduce(into: [:]) { $0[$1.day] = DailyMemory.doubtful })
        return waiting.reduce(into: [:]) { $0[$1.day] = "it answers \(response.status) to its day" }
      }
      let half = waiting.count / 2
      let first = try await flush(Array(waiting[..<half]), now, &memory)
      return first.merging(try await flush(Array(waiting[half...]), now, &memory)) { $1 }
    }
    guard (200..<300).contains(response.status) else { throw refusal(response) }
    try await memory.add(Dictionary(waiting.map { ($0.day, $0.print) }, uniquingKeysWith: { $1 }))
    return [:]
  }

  /// The statuses that concern the content, not the sender or the address.
  private static let refusals: Set<Int> = [400, 413, 415, 422]

  private func post(_ days: [JSONValue]) async throws -> HTTPService.Response {
    let body = try CanonicalJSON.encode(JSONValue.object(["data": .array(days)]))
    return try await service.send(
      HTTPService.Request("POST", url.absoluteString, headers: headers, body: Array(body.utf8)))
  }

  private func refusal(_ response: HTTPService.Response) -> DeliveryError {
    let host = url.host(percentEncoded: false) ?? "the server"
    return .unusable(reason: "\(host) answers \(response.status) to a day: are url and metrics as it wants them?")
  }
}
