import HealthAnalysis
import HealthStore
import Synchronization
import Terminal

/// The update of the numbers that are kept beside a store, with its progress. The first time, every sample is read.
enum NumbersUpdate {
  /// The minimum number of samples for which progress is shown.
  private static let noticeable = 100_000

  static func run(on store: HealthStore) async throws {
    let total = try await store.samples.typeCounts().map(\.samples).reduce(0, +)
    let bar = Mutex<ProgressBar?>(nil)
    defer { bar.withLock { $0?.finish() } }
    try await Rollups(of: store) { samples in
      guard total >= noticeable else { return }
      bar.withLock { bar in
        // Usually there is nothing to do, and then no bar is shown.
        let shown = bar ?? ProgressBar(label: "statistics", totalItems: total, capabilities: Console.capabilities)
        bar = shown
        shown.advance(items: samples, bytes: 0)
      }
    }.refresh()
  }
}
