import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import TestSupport

/// A benchmark of `hpeer pull --watch`: the time from a commit by another process on the server's machine to the
/// commit in the client's store, and the cost of waiting while nothing happens.
struct LivePull {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  private static let patience = Duration.seconds(30)

  func measure() async throws -> Row {
    var row = Row(.live)
    guard try await bench.program.has("--watch", of: "pull", in: bench.workspace) else {
      row.skipped = "this hpeer has no pull --watch"
      return row
    }
    let home = try await bench.homes.server(of: bench.sizes.small)
    let server = try await Server(bench, home: home)
    let relay = try Relay(to: server.port)
    let client = try await bench.homes.pulled(bench.sizes.small, port: server.port)
    try await bench.homes.point(client, to: relay.port)
    let watch = try Service(bench.program, ["pull", "--watch"], home: client, in: bench.workspace)
    let store = try HealthStore(directory: home)
    let destination = try Destination(client)

    var times: [Double] = []
    for round in 0..<3 + bench.sizes.shortRepeats * 3 {
      let sample = Sample.now
      try await store.apply(ChangeBatch(additions: [sample]))
      let committed = ContinuousClock.now
      try await destination.waitFor(sample.uuid, within: Self.patience)
      // The first ones also see the watch begin.
      if round >= 3 { times.append(committed.duration(to: .now).seconds * 1000) }
      try await Task.sleep(for: .milliseconds(Int.random(in: 20...400)))
    }
    row.add("from commit to commit", medianOf: times, .milliseconds, goal: .atMost(100))
    row.add("the slowest of \(times.count)", times.max() ?? .nan, .milliseconds)
    try await idle(server, watch, relay, &row)
    try await watch.stop()
    try await server.service.stop()
    return row
  }

  private func idle(_ server: Server, _ watch: Service, _ relay: Relay, _ row: inout Row) async throws {
    try await Task.sleep(for: .seconds(1))
    _ = relay.take()
    let before = [watch, server.service].map { ($0.running.cpuSeconds, $0.running.sleeps) }
    try await Task.sleep(for: .seconds(bench.sizes.idle))
    let after = [watch, server.service].map { ($0.running.cpuSeconds, $0.running.sleeps) }
    let seconds = Double(bench.sizes.idle)
    row.add("idle: what the client sends", Double(relay.take().sends) / seconds, .perSecond, goal: .atMost(1))
    for (index, name) in ["client", "server"].enumerated() {
      row.add(
        "idle: processor time of the \(name), a second", (after[index].0 - before[index].0) * 1000 / seconds,
        .milliseconds)
      row.add("idle: wake-ups of the \(name)", Double(after[index].1 - before[index].1) / seconds, .perSecond)
    }
  }
}

/// The store of the watching client, read from outside.
private struct Destination: Sendable {
  private let path: String

  init(_ home: String) throws { path = "\(home)/store.sqlite" }

  /// Returns when a sample has been committed. Polls a thousand times a second.
  func waitFor(_ uuid: UUID, within patience: Duration) async throws {
    let hex = withUnsafeBytes(of: uuid.uuid) { $0.map { String(format: "%02x", $0) }.joined() }
    let path = path
    try await onThread { _ in
      let database = try SQLite(path, readOnly: true)
      let deadline = ContinuousClock.now + patience
      let sql =
        "SELECT EXISTS(SELECT 1 FROM sample WHERE change > (SELECT MAX(change) - 4 FROM sample) AND uuid = x'\(hex)')"
      while try database.text(sql) != "1" {
        guard ContinuousClock.now < deadline else { throw BenchFailure("A change did not arrive within \(patience).") }
        usleep(1000)
      }
    }
  }
}
