import Foundation
import Synchronization
import TestSupport

/// A stand-in for the iPhone app HealthAppTransfer that answers byte for byte as its server does and crashes on the
/// same requests.
public final class HealthAppTransferApp: PhoneApp {
  /// The simulated state of the phone and its app.
  public struct State: Sendable {
    /// The samples of each type, newest first.
    public var samples: [String: [PhoneSample]] = [:]
    /// Whether the app asks for biometric authentication before it answers.
    public var isLocked = false
    /// Whether the phone is asleep and neither answers nor closes connections.
    public var isAsleep = false
    /// Whether HealthKit returns no data, as on a locked phone.
    public var listsNothing = false
    /// The maximum number of rows in a page.
    public var mostRows = 1_000
    /// Whether dates are numbers, as a version of the app's own client expects.
    public var numericDates = false
    /// The valid pairing codes and the token that each is redeemed for.
    public var codes: [String: String] = [:]
    public var tokens: Set<String> = []
    /// The reason why the app crashed, or `nil` while it runs.
    public var crash: String?
    public var requests: [String] = []
    /// A status that replaces every answer, for statuses that an app may send one day.
    public var status: Int?
    /// The simulated faults, by type.
    public var faults: [String: PhoneFault] = [:]
    /// Types that aren't listed, like those for which the owner has revoked access.
    public var hidden: Set<String> = []
    var random: SeededGenerator

    /// Adds samples in the app's order.
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
  /// A closure that runs before each request is answered, for example to change the list between pages.
  private let happening: @Sendable (inout State) -> Void

  public init(seed: UInt64 = 1, happening: @escaping @Sendable (inout State) -> Void = { _ in }) {
    state = Mutex(State(random: SeededGenerator(seed: seed)))
    self.happening = happening
  }

  /// Creates a pairing code, as shown on the phone. Earlier codes stay valid.
  public func newCode() -> String {
    state.withLock { state in
      let code = (0..<6).map { _ in String(Int.random(in: 0...9, using: &state.random)) }.joined()
      let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &state.random) }
      state.codes[code] = Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
        .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
      return code
    }
  }

  /// Invalidates all codes, as happens five minutes after a code was created.
  public func expireCodes() { state.withLock { $0.codes = [:] } }

  /// Returns the content of the app's QR code.
  public func payload(host: String, port: Int, fingerprint: String, expiry: Double) -> String {
    "{\"code\":\"\(newCode())\",\"expiry\":\(expiry),\"fingerprint\":\"\(fingerprint)\",\"host\":\"\(host)\",\"port\":\(port)}"
  }

  public func react(to bytes: [UInt8]) -> PhoneReaction {
    state.withLock { state in
      if let crash = state.crash { return .crash(crash) }
      happening(&state)
      if state.isAsleep { return .silence }
      // Whatever it cannot read it neither answers nor forgets.
      guard let request = PhoneRequest(bytes),
        ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"].contains(request.method.uppercased())
      else { return .silence }
      state.requests.append("\(request.method) \(request.target)")
      do throws(Crash) {
        return .answer(try Self.answer(request, &state))
      } catch {
        state.crash = error.reason
        return .crash(error.reason)
      }
    }
  }

  struct Crash: Error { var reason: String }

  // MARK: Routes

  private static func answer(_ request: PhoneRequest, _ state: inout State) throws(Crash) -> [UInt8] {
    let parts = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let (path, query) = (String(parts[0]), Self.query(parts.count > 1 ? parts[1] : ""))
    if let status = state.status { return error(status, "Not Found") }
    switch (request.method.uppercased(), path) {
    case ("GET", "/status"):
      return success(
        PhoneJSON.object([
          "status": "\"running\"", "version": "\"1.0\"", "deviceName": "\"iPhone\"",
          "availableTypes": String(state.samples.values.count { !$0.isEmpty }),
        ]))
    case ("POST", "/api/v1/pair"): return pair(request, &state)
    case ("GET", "/health/types"), ("GET", "/health/data"):
      if state.isLocked {
        return error(423, "Device is locked. Unlock with biometric authentication to access this resource.")
      }
      let field = request.fields["authorization"] ?? request.fields["Authorization"] ?? ""
      guard field.lowercased().hasPrefix("bearer "), state.tokens.contains(String(field.dropFirst(7))) else {
        return error(401, "Unauthorized")
      }
      return path == "/health/types" ? types(state) : try data(query, &state)
    default: return error(404, "Not Found")
    }
  }

  private static func pair(_ request: PhoneRequest, _ state: inout State) -> [UInt8] {
    struct Body: Decodable { var code: String }
    guard let body = try? JSONDecoder().decode(Body.self, from: Data(request.body)) else {
      return error(400, "Missing or invalid pairing code in request body")
    }
    guard let token = state.codes.removeValue(forKey: body.code) else {
      return error(401, "Invalid or expired pairing code")
    }
    state.tokens.insert(token)
    return success(PhoneJSON.object(["deviceID": "\"\(UUID().uuidString)\"", "token": PhoneJSON.text(token)]))
  }

  private static func types(_ state: State) -> [UInt8] {
    let names =
      state.listsNothing
      ? [] : state.samples.filter { !$0.value.isEmpty && !state.hidden.contains($0.key) }.keys.sorted()
    let entries = names.map {
      PhoneJSON.object(["identifier": PhoneJSON.text($0), "displayName": PhoneJSON.text($0), "sampleCount": "1"])
    }
    return success("{\"types\":[\(entries.joined(separator: ","))]}")
  }

  private static let characteristics: Set<String> = [
    "activityMoveMode", "biologicalSex", "bloodType", "dateOfBirth", "fitzpatrickSkinType", "wheelchairUse",
  ]

  private static func data(_ query: [String: String], _ state: inout State) throws(Crash) -> [UInt8] {
    guard let type = query["type"] else { return error(400, "Missing or invalid 'type' query parameter") }
    if characteristics.contains(type) { throw Crash(reason: "asked for the characteristic \(type)") }
    let offset = query["offset"].flatMap { Int($0) } ?? 0
    let asked = query["limit"].flatMap { Int($0) } ?? 500
    if offset < 0 { throw Crash(reason: "offset \(offset)") }
    if asked < 1 { throw Crash(reason: "limit \(asked)") }
    let limit = min(asked, state.mostRows)
    guard !offset.addingReportingOverflow(limit + 1).overflow, offset < 1 << 40 else {
      throw Crash(reason: "offset \(offset)")
    }
    let fault = state.faults[type]
    if case .status(let status)? = fault { return error(status, "Failed to fetch health data") }
    if let text = fault?.text { return message(200, text) }
    let all = state.listsNothing || state.hidden.contains(type) ? [] : state.samples[type] ?? []
    let first = fault == .repeats ? 0 : offset
    let end = min(all.count, first + limit)
    let rows = first < end ? page(all, first..<end, &state.random) : []
    // JSON has no such number, and the app nothing to say of it.
    if rows.contains(where: { $0.value.map { !$0.isFinite } ?? false }) {
      return error(500, "Failed to encode response")
    }
    let objects = rows.filter(\.isMappable).map { object($0, numericDates: state.numericDates) }
    return success(
      "{\"hasMore\":\(all.count > offset + limit || fault == .repeats || fault == .saysMore),\"limit\":\(limit),\"offset\":\(offset),\"samples\":["
        + objects.joined(separator: ",")
        + "],\"totalCount\":\(min(all.count, offset + limit)),\"type\":\(PhoneJSON.text(type))}")
  }

  /// Returns rows of a page. Rows that start in the same second are reordered on each request.
  private static func page(
    _ all: [PhoneSample], _ range: Range<Int>, _ random: inout SeededGenerator
  ) -> ArraySlice<PhoneSample> {
    func second(_ index: Int) -> Double { all[index].start.rounded(.down) }
    var (first, last) = (range.lowerBound, range.upperBound)
    while first > 0, second(first - 1) == second(range.lowerBound) { first -= 1 }
    while last < all.count, second(last) == second(range.upperBound - 1) { last += 1 }
    var rows: [PhoneSample] = []
    var index = first
    while index < last {
      var next = index + 1
      while next < last, second(next) == second(index) { next += 1 }
      rows += next == index + 1 ? [all[index]] : all[index..<next].shuffled(using: &random)
      index = next
    }
    return rows[(range.lowerBound - first)..<(range.upperBound - first)]
  }

  private static func object(_ sample: PhoneSample, numericDates: Bool) -> String {
    func date(_ seconds: Double) -> String {
      numericDates ? PhoneJSON.number(seconds - 978_307_200) : PhoneJSON.instant(seconds)
    }
    return PhoneJSON.object([
      "id": "\"\(sample.id.uuidString)\"", "type": PhoneJSON.text(sample.type), "startDate": date(sample.start),
      "endDate": date(sample.end), "sourceName": PhoneJSON.text(sample.sourceName),
      "sourceBundleIdentifier": "\"com.apple.health.E1\"", "value": sample.value.map(PhoneJSON.number),
      "unit": sample.unit.map(PhoneJSON.text), "categoryValue": sample.categoryValue.map { String($0) },
      "workoutActivityType": sample.workoutActivityType.map { String($0) },
      "workoutDuration": sample.workoutActivityType.map { _ in PhoneJSON.number(sample.end - sample.start) },
      "correlationValues": sample.correlationValues.map { PhoneJSON.object($0.mapValues(PhoneJSON.number)) },
      "metadataJSON": sample.metadataJSON.map(PhoneJSON.text),
    ])
  }

  // MARK: Answers

  private static func query(_ text: Substring) -> [String: String] {
    var result: [String: String] = [:]
    for pair in text.split(separator: "&") {
      let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
      if parts.count == 2 { result[String(parts[0])] = String(parts[1]).removingPercentEncoding }
    }
    return result
  }

  private static let reasons = [
    200: "OK", 201: "Created", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    423: "Locked", 500: "Internal Server Error",
  ]

  private static func success(_ data: String) -> [UInt8] { message(200, "{\"data\":\(data),\"success\":true}") }

  private static func error(_ status: Int, _ text: String) -> [UInt8] {
    message(status, PhoneJSON.object(["error": PhoneJSON.text(text)]))
  }

  private static func message(_ status: Int, _ body: String) -> [UInt8] {
    Array(
      """
      HTTP/1.1 \(status) \(reasons[status] ?? "Unknown")\r
      Content-Type: application/json\r
      Content-Length: \(body.utf8.count)\r
      Connection: close\r
      \r
      \(body)
      """.utf8)
  }
}

/// A simulated iPhone app that answers requests.
public protocol PhoneApp: Sendable {
  /// Returns the app's reaction to the bytes of a request.
  func react(to bytes: [UInt8]) -> PhoneReaction
}
