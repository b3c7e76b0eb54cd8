/// The benchmarks of pulls.
enum PullRow: String, BenchRow {
  case full, json, memory, incremental, clients, hostile, live, delay

  var title: String {
    switch self {
    case .full: "full pull, and a bare insert of the same rows"
    case .json: "the same through the JSON pages of HealthAppTransfer"
    case .memory: "peak memory of each side, by size of the store"
    case .incremental: "one change, and none, by size of the store"
    case .clients: "eight clients at once"
    case .hostile: "beside a client that does its worst"
    case .live: "from commit to commit with pull --watch"
    case .delay: "20 ms round-trip time"
    }
  }

  func measure(_ bench: Bench) async throws -> Row {
    switch self {
    case .full: try await FullPull(bench).measure()
    case .json: try await JSONPages(bench).measure()
    case .memory: try await PeakMemory(bench).measure()
    case .incremental: try await IncrementalPull(bench).measure()
    case .clients: try await ManyClients(bench).measure()
    case .hostile: try await HostileClient(bench).measure()
    case .live: try await LivePull(bench).measure()
    case .delay: try await DelayedPull(bench).measure()
    }
  }
}
