import Foundation
import PeerClient
import Synchronization

/// A phone app whose answers depend on choices: those of the real app, endless or repeated pages, extreme numbers,
/// endlessly nested JSON, or arbitrary bytes.
final class HostileApp: Sendable {
  private struct State {
    var choices: Choices
    var requests = 0
    /// The start of the next row, in seconds since 1970. It decreases, because apps list the newest row first.
    var second: Int64 = 1_780_000_000
    var forbidden: String?
  }

  private let state: Mutex<State>
  private let isHealthSync: Bool
  /// The number of requests after which the phone is out of reach.
  private static let patience = 120

  init(_ choices: Choices, isHealthSync: Bool) {
    state = Mutex(State(choices: choices))
    self.isHealthSync = isHealthSync
  }

  /// A request that would crash the real app, or `nil` if none was made.
  var forbidden: String? { state.withLock(\.forbidden) }

  func answer(_ request: AppRequest, at endpoint: PeerEndpoint) throws(PeerError) -> AppAnswer {
    let text = String(decoding: request.bytes(to: endpoint), as: UTF8.self)
    let said: AppAnswer? = state.withLock { state in
      state.requests += 1
      if ["bloodType", "standHours", "sleepREM", "limit=0", "=-", "\"limit\":0", ":-"].contains(where: text.contains) {
        state.forbidden = text
      }
      return state.requests > Self.patience ? nil : answer(text, &state)
    }
    guard let said else { throw .unreachable(endpoint: "\(endpoint)", reason: "put away") }
    return said
  }

  private func answer(_ text: String, _ state: inout State) -> AppAnswer {
    switch state.choices.below(12) {
    case 8:
      let count = state.choices.below(256)
      return AppAnswer(status: 200, body: (0..<count).map { _ in state.choices.byte() })
    case 9: return AppAnswer(status: state.choices.pick([400, 403, 404, 413, 423, 429, 500, 503]), body: [])
    case 10:
      let opening = state.choices.pick(["[", "{\"data\":", "{\"samples\":[", "[{\"a\":"])
      return AppAnswer(status: 200, body: Array(String(repeating: opening, count: 100_000).utf8))
    default: break
    }
    let body = text.contains("/health/types ") ? types(&state) : page(text, &state)
    return AppAnswer(status: 200, body: Array(body.utf8))
  }

  private func types(_ state: inout State) -> String {
    let names =
      isHealthSync
      ? ["heartRate", "steps", "standHours", "sleepREM", state.choices.extreme()]
      : ["heartRate", "stepCount", "bloodType", state.choices.extreme()]
    let quoted = names.prefix(1 + state.choices.below(names.count)).map { "\"\($0.filter { $0 != "\"" })\"" }
    return isHealthSync
      ? "{\"enabledTypes\":[\(quoted.joined(separator: ","))]}"
      : "{\"success\":true,\"data\":{\"types\":["
        + quoted.map { "{\"identifier\":\($0),\"sampleCount\":1}" }.joined(separator: ",") + "]}}"
  }

  private func page(_ text: String, _ state: inout State) -> String {
    let type = ["stepCount", "steps"].first { text.contains("=\($0)&") || text.contains("\"\($0)\"") } ?? "heartRate"
    // A page full of one second, or some rows.
    let isFull = state.choices.oneIn(8)
    let rows = (0..<(isFull ? 600 : state.choices.below(16))).map { _ in
      row(type, &state, keepsSecond: isFull || state.choices.oneIn(6))
    }
    let hasMore = state.choices.below(3) == 2
    let (list, more) = (rows.joined(separator: ","), state.choices.oneIn(16) ? state.choices.extreme() : "\(hasMore)")
    return isHealthSync
      ? "{\"status\":\"ok\",\"samples\":[\(list)],\"hasMore\":\(more),\"returnedCount\":\(rows.count)}"
      : "{\"success\":true,\"data\":{\"type\":\"\(type)\",\"samples\":[\(list)],\"hasMore\":\(more),\"totalCount\":"
        + (state.choices.oneIn(6) ? state.choices.extreme() : "\(rows.count)") + "}}"
  }

  private func row(_ type: String, _ state: inout State, keepsSecond: Bool) -> String {
    if !keepsSecond { state.second -= Int64(1 + state.choices.below(100)) }
    func instant(_ state: inout State) -> String {
      state.choices.oneIn(24)
        ? state.choices.extreme()
        : "\"\(Date(timeIntervalSince1970: Double(state.second)).formatted(.iso8601))\""
    }
    let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &state.choices.random) }
    let id = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    let value = state.choices.oneIn(24) ? state.choices.extreme() : "60"
    return "{\"id\":\"\(id.uuidString)\",\"type\":\"\(type)\",\"startDate\":\(instant(&state)),"
      + "\"endDate\":\(instant(&state)),\"sourceName\":\"Watch\",\"value\":\(value),\"unit\":\"count\"}"
  }
}
