import OperatingSystem
import TestSupport

/// A benchmark of a pull of a whole store into an empty store, compared with a bare SQLite insert of the same rows.
struct FullPull {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  /// The numbers of rows per transaction of the bare insert. The faster variant is the baseline.
  private static let transactions = [10_000, 100_000]

  func measure() async throws -> Row {
    let source = try await bench.homes.server(of: bench.sizes.samples)
    let floor = try await onThread { _ in try BareInsert(rowsOf: source) }
    let server = try await Server(bench, home: source)
    var bare: [[Double]] = Self.transactions.map { _ in [] }
    var bareCPU: [Double] = []
    var pulls: [TimedPull] = []
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      var inserts: [(seconds: Double, cpuSeconds: Double)] = []
      for transaction in Self.transactions {
        bench.workspace.settle()
        let directory = bench.workspace.fresh("floor")
        inserts.append(try await onThread { _ in try floor.run(transaction: transaction, in: directory) })
      }
      let pull = try await TimedPull(bench, server: server)
      guard pull.added == floor.count else {
        throw BenchFailure("The pull brought \(pull.added) samples of \(floor.count).")
      }
      guard round >= bench.sizes.warmUps else { continue }
      for (index, insert) in inserts.enumerated() { bare[index].append(Double(floor.count) / insert.seconds) }
      bareCPU.append(inserts.map(\.cpuSeconds).min() ?? .nan)
      pulls.append(pull)
    }
    // Counting costs time, so it is done apart.
    let relay = try Relay(to: server.port)
    let counted = try await TimedPull(bench, server: server, port: relay.port)
    let wire = relay.take()
    try await server.service.stop()

    var row = Row(.full)
    for (transaction, rates) in zip(Self.transactions, bare) {
      row.add("bare insert, \(transaction / 1000),000 rows a transaction", medianOf: rates, .perSecond)
    }
    row.add("pull, from process start to exit", medianOf: pulls.map(\.rate), .perSecond)
    let best = bare.map(median).max() ?? .nan
    row.add("pull / the faster bare insert", median(pulls.map(\.rate)) / best, .ratio, goal: .atLeast(0.7))
    let each = 1_000_000 / Double(floor.count)
    row.add("processor time a sample: bare insert", medianOf: bareCPU.map { $0 * each }, .microseconds)
    row.add("processor time a sample: client", medianOf: pulls.map { $0.clientCPU * each }, .microseconds)
    row.add("processor time a sample: server", medianOf: pulls.map { $0.serverCPU * each }, .microseconds)
    row.add(
      "bytes on the wire, TLS and HTTP included", Double(wire.bytes) / Double(counted.added), .bytesPerSample,
      goal: .atMost(bench.identity == .random ? 28 : 14))
    return row
  }
}

/// The measurements of a pull by a client with an empty store.
struct TimedPull: Sendable {
  let added: Int
  /// The seconds from process start to exit.
  let seconds: Double
  /// The peak memory in bytes, or 0 if it wasn't measured.
  let clientPeak: Int
  let clientCPU: Double
  let serverCPU: Double

  var rate: Double { Double(added) / seconds }

  /// - Parameter port: The port of a relay, or `nil` for the server's own port.
  init(_ bench: Bench, server: Server, port: Int? = nil) async throws {
    let home = try await bench.homes.client(port: port ?? server.port)
    bench.workspace.settle()
    try await self.init(bench, server: server, home: home)
    bench.workspace.remove(home)
  }

  /// - Parameter home: The home of a client that has no store yet.
  init(_ bench: Bench, server: Server, home: String, watchesMemory: Bool = false) async throws {
    let before = server.service.running.cpuSeconds
    let outcome = try await bench.program.run(
      ["pull", "--json"], home: home, watchesMemory: watchesMemory, in: bench.workspace)
    serverCPU = server.service.running.cpuSeconds - before
    guard let added = try outcome.json()["added"] as? Int, added > 0 else {
      throw BenchFailure("A pull into an empty store added nothing: \(outcome.output)")
    }
    self.added = added
    (seconds, clientPeak, clientCPU) = (outcome.seconds, outcome.peak, outcome.cpuSeconds)
  }
}
