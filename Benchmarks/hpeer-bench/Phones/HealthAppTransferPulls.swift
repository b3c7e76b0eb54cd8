import Foundation
import PhoneApps

/// A benchmark of pulling 300,000 samples from HealthAppTransfer, with 1,000 samples per request.
struct HealthAppTransferPulls {
  private let bench: Bench
  /// The types of a day's new samples. Most samples are of the last type.
  private static let active = [
    "stepCount", "activeEnergyBurned", "basalEnergyBurned", "distanceWalkingRunning", "respiratoryRate",
    "oxygenSaturation", "environmentalAudioExposure", "heartRate",
  ]
  private static let quiet = ["bodyMass", "height", "vo2Max", "restingHeartRate"]
  private static let (new, token) = (5_000, "0123456789ABCDEF0123456789ABCDEF")

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    let (app, count) = (HealthAppTransferApp(), bench.sizes.isQuick ? 5_000 : 300_000)
    let now = Date().timeIntervalSince1970.rounded(.down) - 86_400
    func samples(of type: String, _ count: Int, before end: Double, every seconds: Double) -> [PhoneSample] {
      (0..<count).map { PhoneSample(type: type, start: end - Double($0) * seconds, value: 1, unit: "count") }
    }
    // So many of each of the others, the rest of heart rates.
    let each = min(2_000, count / 20)
    let types = Self.active + Self.quiet
    let most = count - each * (types.count - 1)
    app.state.withLock { state in
      state.tokens = [Self.token]
      for type in types.dropLast(Self.quiet.count + 1) + Self.quiet {
        state.samples[type] = samples(of: type, each, before: now, every: 600)
      }
      state.samples["heartRate"] = samples(of: "heartRate", most, before: now, every: 5)
    }
    let phone = try await PhoneHome(
      bench, app, .healthAppTransfer(), dialect: "HealthAppTransfer", token: Self.token,
      requests: { app.state.withLock { $0.requests.count } })
    var row = Row(.healthapptransfer)
    let (active, quiet) = (Double(Self.active.count), Double(Self.quiet.count))
    do {
      let first = Self.requests(for: most) + (types.count - 1) * Self.requests(for: each)
      // One for the list of types.
      try await phone.pull("first pull of \(count)", adding: count, within: Double(1 + first), &row)
      app.state.withLock { state in
        let part = Self.new / Self.active.count
        for type in Self.active {
          state.samples[type]?.insert(
            contentsOf: samples(of: type, part, before: now + 43_200, every: 60), at: 0)
        }
      }
      // One for the list of types.
      try await phone.pull("a day with \(Self.new) new", adding: Self.new, within: 1 + 2 * active + quiet, &row)
      try await phone.pull("nothing new", adding: 0, within: 1 + active + quiet, &row)
    } catch {
      await phone.end()
      throw error
    }
    await phone.end()
    return row
  }

  /// Returns the number of requests for a first pull of a type.
  ///
  /// Pages overlap by a row. After several pages there are further requests: for the newest rows, for the total, and
  /// for the ends of up to 32 pages.
  private static func requests(for rows: Int) -> Int {
    let pages = (rows + 998) / 999
    return pages == 1 ? 1 : pages + 2 + min(pages - 1, max(2, pages / 4), 32)
  }
}
