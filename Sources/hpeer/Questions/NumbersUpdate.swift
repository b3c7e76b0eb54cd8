import HealthAnalysis
import HealthStore
import Synchronization
import Terminal

/// Brings the numbers that are kept beside a store up to date, and shows how far that is: the first time, every sample is
/// looked at.
enum NumbersUpdate {
  /// Fewer samples are looked at before anybody wonders.
  private static let noticeable = 100_000

  static func run(on store: HealthStore) async throws {
    let total = try await store.samples.typeCounts().map(\.samples).reduce(0, +)
    let bar = Mutex<ProgressBar?>(nil)
    defer { bar.withLock { $0?.finish() } }
    try await Rollups(of: store) { samples in
      guard total >= noticeable else { return }
      bar.withLock { bar in
        // Mostly there is nothing to do.
        let shown = bar ?? ProgressBar(label: "statistics", totalItems: total, capabilities: Console.capabilities)
        bar = shown
        shown.advance(items: samples, bytes: 0)
      }
    }.refresh()
  }
}
