import Foundation
import HealthModel
import Synchronization
import TestSupport

/// A stand-in for the iPhone app HealthSync that answers byte for byte as its server does and crashes on the same
/// requests.
public final class HealthSyncApp: PhoneApp {
  /// The simulated state of the phone and its app.
  public struct State: Sendable {
    /// The samples of each type, by the app's type name, newest first.
    public var samples: [String: [PhoneSample]] = [:]
    /// The types that the owner shares.
    public var enabled: Set<String> = [
      "heartRate", "steps", "weight", "workouts", "sleepAnalysis", "sleepREM", "standHours",
    ]
    public var isLocked = false
    /// Whether the phone is asleep and neither answers nor closes connections.
    public var isAsleep = false
    /// The number of further requests refused with status 429, as if another client had used up the rate limit.
    public var refusals = 0
    /// Whether the code on the screen is older than five minutes.
    public var isCodeOver = false
    /// The simulated faults, by type.
    public var faults: [String: PhoneFault] = [:]
    /// Whether HealthKit returns no data, as when the phone locks itself during a request.
    public var isEmpty = false
    public var code: String?
    public var failures = 0
    public var tokens: Set<String> = []
    /// Whether this version of the app serves workout routes.
    public var hasRoutes = false
    /// The status returned for requests for routes, or 0 to close the connection without an answer.
    public var routesStatus: Int?
    /// The reason why the app crashed, or `nil` while it runs.
    public var crash: String?
    public var requests: [String] = []
    /// The times of the answers that count toward the rate limit, in seconds since 1970.
    public var answered: [Double] = []
    /// The number of requests refused by the rate limit.
    public var refused = 0
    var random: SeededGenerator

    public mutating func add(_ new: [PhoneSample]) {
      for (type, new) in Dictionary(grouping: new, by: \.type) {
        samples[type] = (samples[type, default: []] + new).sorted(by: PhoneSample.isBefore)
      }
    }

    public mutating func remove(_ ids: Set<UUID>) {
      for type in samples.keys { samples[type]?.removeAll { ids.contains($0.id) } }
    }
  }

  public let state: Mutex<State>
  /// The phone's clock, in seconds since 1970.
  private let now: @Sendable () -> Double
  private let happening: @Sendable (inout State) -> Void

  public init(
    seed: UInt64 = 1, now: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 },
    happening: @escaping @Sendable (inout State) -> Void = { _ in }
  ) {
    state = Mutex(State(random: SeededGenerator(seed: seed)))
    (self.now, self.happening) = (now, happening)
  }

  private static let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789")

  /// Returns the content of the app's QR code with a new code, which replaces the previous code.
  ///
  /// - Parameter expiry: The time at which the code expires, or `nil` to omit it, as a version of the app does.
  public func payload(host: String, port: Int, fingerprint: String, expiry: Double?) -> String {
    let code = state.withLock { state in
      let code = String((0..<8).map { _ in state.random.pick(Self.letters) })
      (state.code, state.failures) = (code, 0)
      return code
    }
    return PhoneJSON.object([
      "version": "\"1\"", "host": PhoneJSON.text(host), "port": String(port), "code": PhoneJSON.text(code),
      "expiresAt": expiry.map(PhoneJSON.instant), "certificateFingerprint": PhoneJSON.text(fingerprint),
    ])
  }

  public func react(to bytes: [UInt8]) -> PhoneReaction {
    state.withLock { state in
      if let crash = state.crash { return .crash(crash) }
      happening(&state)
      if state.isAsleep { return .silence }
      guard let request = PhoneRequest(bytes) else { return .answer(Self.plain(400, "Invalid request")) }
      state.requests.append("\(request.method) \(request.target) \(String(decoding: request.body, as: UTF8.self))")
      // Looked up with this case alone; without it, there is no body.
      let length = request.fields["Content-Length"].flatMap { Int($0) } ?? 0
      if length < 0 {
        state.crash = "Content-Length: \(length)"
        return .crash(state.crash ?? "")
      }
      do throws(Crash) {
        return .answer(try answer(request, body: Array(request.body.prefix(length)), &state))
      } catch {
        state.crash = error.reason
        return .crash(error.reason)
      }
    }
  }

  struct Crash: Error { var reason: String }

  // MARK: Routes

  private func answer(_ request: PhoneRequest, body: [UInt8], _ state: inout State) throws(Crash) -> [UInt8] {
    if request.method == "POST", request.target == "/api/v1/pair" { return Self.pair(body, &state, now()) }
    let words = (request.fields["Authorization"] ?? "").split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, words[0].lowercased() == "bearer", state.tokens.contains(String(words[1])) else {
      return Self.plain(401, "Missing or invalid token")
    }
    let time = now()
    state.answered.removeAll { $0 <= time - 60 }
    guard state.answered.count < 60, state.refusals == 0 else {
      state.refusals = max(0, state.refusals - 1)
      state.refused += 1
      return Self.plain(429, "Rate limit exceeded")
    }
    state.answered.append(time)
    let enabled = state.enabled.sorted().map(PhoneJSON.text).joined(separator: ",")
    switch (request.method, request.target) {
    case ("GET", "/api/v1/status"):
      return Self.json(
        "{\"status\":\"ok\",\"version\":\"1\",\"deviceName\":\"HealthSync-3FA2C41D\",\"enabledTypes\":[\(enabled)]}")
    case ("GET", "/api/v1/health/types"): return Self.json("{\"enabledTypes\":[\(enabled)]}")
    case ("POST", "/api/v1/health/data"): return try Self.data(body, &state)
    case ("POST", "/api/v1/health/routes") where state.routesStatus != nil:
      return state.routesStatus == 0 ? [] : Self.plain(state.routesStatus ?? 0, "Not now")
    case ("POST", "/api/v1/health/routes") where state.hasRoutes: return Self.json("{\"status\":\"ok\",\"routes\":[]}")
    default: return Self.plain(404, "Unknown route")
    }
  }

  private static func pair(_ body: [UInt8], _ state: inout State, _ now: Double) -> [UInt8] {
    struct Body: Decodable {
      var code: String
      var clientName: String
    }
    guard let body = try? JSONDecoder().decode(Body.self, from: Data(body)) else {
      return plain(400, "Invalid request format")
    }
    guard let code = state.code else {
      return plain(400, "No pairing session active. Generate a new QR code in the iOS app.")
    }
    if state.isCodeOver {
      (state.code, state.isCodeOver) = (nil, false)
      return plain(400, "Pairing code expired (5 min TTL). Generate a new QR code.")
    }
    guard body.code == code else {
      state.failures += 1
      if state.failures > 5 { state.code = nil }
      return plain(
        400,
        state.failures > 5
          ? "Too many failed attempts. Restart the iOS app to try again."
          : "Invalid pairing code. Check that you copied the latest QR code.")
    }
    state.code = nil
    let token = UUID().uuidString.replacingOccurrences(of: "-", with: "")
    state.tokens.insert(token)
    return json("{\"token\":\"\(token)\",\"expiresAt\":\(PhoneJSON.instant(now + 2_592_000))}")
  }

  private struct Query: Decodable {
    var startDate: String
    var endDate: String
    var types: [String]
    var limit: Int?
    var offset: Int?
  }

  /// The type names of the app's first version.
  public static let known: Set<String> = [
    "steps", "flightsClimbed", "distanceWalkingRunning", "distanceCycling", "activeEnergyBurned", "basalEnergyBurned",
    "exerciseTime", "standHours", "workouts", "heartRate", "restingHeartRate", "walkingHeartRateAverage",
    "respiratoryRate", "heartRateVariability", "bloodPressureSystolic", "bloodPressureDiastolic", "bloodOxygen",
    "bodyFatPercentage", "bodyTemperature", "vo2Max", "weight", "leanBodyMass", "height", "bodyMassIndex",
    "sleepAnalysis", "sleepInBed", "sleepAsleep", "sleepAwake", "sleepREM", "sleepCore", "sleepDeep",
  ]

  private static func data(_ body: [UInt8], _ state: inout State) throws(Crash) -> [UInt8] {
    guard let query = try? JSONDecoder().decode(Query.self, from: Data(body)),
      let start = Timestamp(iso8601: query.startDate)?.seconds, let end = Timestamp(iso8601: query.endDate)?.seconds,
      query.startDate.hasSuffix("Z"), query.startDate.utf8.count == 20, query.endDate.utf8.count == 20,
      query.types.allSatisfy(known.contains)
    else { return plain(400, "Invalid request body") }
    if query.types.isEmpty { return plain(400, "No data types requested") }
    if end < start { return plain(400, "Invalid date range") }
    guard query.limit ?? 1 > 0 else { return plain(400, "Limit must be positive") }
    guard query.types.allSatisfy(state.enabled.contains) else {
      return plain(403, "Requested data types are not enabled")
    }
    if query.types.contains("standHours") { throw Crash(reason: "asked for standHours") }
    if let stage = query.types.first(where: { $0.hasPrefix("sleep") && $0 != "sleepAnalysis" }) {
      // It loses rows; nobody who asks for it means that.
      throw Crash(reason: "asked for \(stage)")
    }
    let (limit, offset) = (min(query.limit ?? 1_000, 10_000), max(query.offset ?? 0, 0))
    guard !offset.addingReportingOverflow(limit + 1).overflow, offset < 1 << 40 else {
      throw Crash(reason: "offset \(offset)")
    }
    if state.isLocked {
      return message(
        423, "application/json",
        "{\"status\":\"locked\",\"samples\":[],\"message\":\"Device is locked\",\"hasMore\":false,\"returnedCount\":0}")
    }
    let fault = query.types.compactMap { state.faults[$0] }.first
    if case .status(let status)? = fault { return plain(status, "Request body too large") }
    if let text = fault?.text { return json(text) }
    let range = fault == .repeats ? -1e12..<1e12 : Double(start)..<Double(end)
    let rows = state.isEmpty ? [] : rows(query.types, range, offset + limit + 1, &state)
    let page = rows.dropFirst(fault == .repeats ? 0 : offset).prefix(limit)
    let hasMore = rows.count > offset + limit || fault == .repeats || fault == .saysMore
    return json(
      "{\"status\":\"ok\",\"samples\":[\(page.map(object).joined(separator: ","))],"
        + "\"hasMore\":\(hasMore),\"returnedCount\":\(page.count)}")
  }

  /// Returns the first `count` rows that start in a range, newest first. Rows that start together are shuffled on
  /// each request.
  private static func rows(
    _ types: [String], _ range: Range<Double>, _ count: Int, _ state: inout State
  ) -> [PhoneSample] {
    var all: [PhoneSample] = []
    for type in types {
      let samples = state.samples[type] ?? []
      // Newest first: those before the end, down to the start.
      let first = samples.firstIndex(after: { $0.start < range.upperBound })
      let last = samples.firstIndex(after: { $0.start < range.lowerBound })
      var end = min(last, first + count)
      while end < last, samples[end].start == samples[end - 1].start { end += 1 }
      all += samples[first..<end]
    }
    var index = 0
    while index < all.count {
      var next = index + 1
      while next < all.count, all[next].start == all[index].start { next += 1 }
      if next > index + 1 { all[index..<next].shuffle(using: &state.random) }
      index = next
    }
    return Array(all.prefix(count))
  }

  private static func object(_ sample: PhoneSample) -> String {
    var metadata: [String: String] = [:]
    if let activity = sample.workoutActivityType {
      let names = [37: "running", 52: "walking", 13: "cycling", 46: "swimming", 57: "yoga"]
      metadata = [
        "activityType": names[activity] ?? "other", "durationSeconds": String(Int(sample.end - sample.start)),
      ]
    }
    let value =
      sample.workoutActivityType == nil ? sample.value ?? Double(sample.categoryValue ?? 0) : sample.end - sample.start
    return "{\"id\":\"\(sample.id.uuidString)\",\"type\":\(PhoneJSON.text(sample.type)),"
      + "\"value\":\(PhoneJSON.number(value)),\"unit\":\(PhoneJSON.text(sample.unit ?? "category")),"
      + "\"startDate\":\(PhoneJSON.instant(sample.start)),\"endDate\":\(PhoneJSON.instant(sample.end)),"
      + "\"sourceName\":\(PhoneJSON.text(sample.sourceName))"
      + (metadata.isEmpty ? "" : ",\"metadata\":" + PhoneJSON.object(metadata.mapValues { PhoneJSON.text($0) })) + "}"
  }

  // MARK: Answers

  private static let reasons = [
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 423: "Locked",
    413: "Request Entity Too Large", 429: "Too Many Requests",
  ]

  private static func json(_ body: String) -> [UInt8] { message(200, "application/json", body) }

  private static func plain(_ status: Int, _ text: String) -> [UInt8] { message(status, "text/plain", text) }

  private static func message(_ status: Int, _ type: String, _ body: String) -> [UInt8] {
    Array(
      "HTTP/1.1 \(status) \(reasons[status] ?? "Unknown")\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        .utf8)
  }
}

extension [PhoneSample] {
  /// Returns the index of the first element that satisfies a condition that all later elements satisfy, too.
  fileprivate func firstIndex(after isTrue: (PhoneSample) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isTrue(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
