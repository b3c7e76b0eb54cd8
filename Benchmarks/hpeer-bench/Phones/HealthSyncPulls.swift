import Foundation
import PhoneApps

/// A benchmark of pulling two million heart rates from HealthSync, with 10,000 samples per request and 60 requests a
/// minute.
struct HealthSyncPulls {
  private let bench: Bench
  private static let types = ["heartRate", "steps", "weight", "sleepAnalysis", "workouts"]
  private static let (new, token) = (5_000, "0123456789ABCDEF0123456789ABCDEF")

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    let (app, count) = (HealthSyncApp(), bench.sizes.isQuick ? 20_000 : 2_000_000)
    let now = Date().timeIntervalSince1970.rounded(.down) - 86_400
    app.state.withLock { state in
      state.tokens = [Self.token]
      state.enabled = Set(Self.types)
      // Newest first, as the app has them.
      state.samples["heartRate"] = (0..<count).map { .heartRate(60 + Double($0 % 40), at: now - Double($0) * 5) }
    }
    let phone = try await PhoneHome(
      bench, app, .healthSync(), dialect: "HealthSync", token: Self.token,
      requests: { app.state.withLock { $0.requests.count } })
    var row = Row(.healthsync)
    let types = Double(Self.types.count)
    do {
      try await phone.pull(
        "first pull of \(count)", adding: count, within: 1.15 * Double(count) / 10_000 + 2 * types, &row)
      app.state.withLock { state in
        // A minute has passed.
        state.answered = []
        state.samples["heartRate"]?.insert(
          contentsOf: (0..<Self.new).map { .heartRate(70, at: now + 43_200 - Double($0) * 8) }, at: 0)
      }
      // One for the list of types.
      try await phone.pull("a day with \(Self.new) new", adding: Self.new, within: 1 + 2 + (types - 1), &row)
      app.state.withLock { $0.answered = [] }
      try await phone.pull("nothing new", adding: 0, within: 1 + types, &row)
    } catch {
      await phone.end()
      throw error
    }
    await phone.end()
    return row
  }
}
