import Foundation
import HealthStore
import PeerClient
import PeerTrust

/// A benchmark of the way in which HealthAppTransfer's clients pull: pages of 1,000 samples of a type, by offset, one
/// after another, each decoded and stored in its own transaction.
///
/// The store is smaller than that of the pull in the comparison, which favours the pages, because larger stores have
/// deeper offsets.
struct JSONPages {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  private static let limit = 1000

  func measure() async throws -> Row {
    let few = try await Server(bench, home: try await bench.homes.server(of: bench.sizes.json))
    var rates: [Double] = []
    var pulls: [TimedPull] = []
    var bytes = Double.nan
    let many = try await Server(bench, home: try await bench.homes.server(of: bench.sizes.samples))
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let started = ContinuousClock.now
      let (count, received) = try await everything(at: few.port)
      let seconds = started.duration(to: .now).seconds
      let pull = try await TimedPull(bench, server: many)
      guard round >= bench.sizes.warmUps else { continue }
      rates.append(Double(count) / seconds)
      bytes = Double(received) / Double(count)
      pulls.append(pull)
    }
    try await few.service.stop()
    let pages = try await deepPages(at: many.port)
    try await many.service.stop()

    var row = Row(.json)
    row.add("JSON pages of \(bench.sizes.json) samples, decoded and stored", medianOf: rates, .perSecond)
    row.add("pull of \(bench.sizes.samples) samples", medianOf: pulls.map(\.rate), .perSecond)
    row.add("pull / JSON pages", median(pulls.map(\.rate)) / median(rates), .ratio, goal: .atLeast(10))
    row.add("JSON", bytes, .bytesPerSample)
    row.add("a page at offset 0", medianOf: pages.first, .milliseconds)
    row.add("a page at offset \(pages.offset)", medianOf: pages.deep, .milliseconds)
    return row
  }

  /// Fetches all pages of all types. Returns the number of samples and the number of bytes received.
  private func everything(at port: Int) async throws -> (count: Int, bytes: Int) {
    let path = bench.workspace.fresh("pages")
    defer { bench.workspace.remove(path) }
    let store = try HealthStore(directory: path)
    return try await connected(to: port) { client in
      var count = 0
      for type in try await client.types() {
        var page: Page
        var offset = 0
        repeat {
          page = try await client.page(of: type.identifier, offset: offset, limit: Self.limit)
          try await store.apply(ChangeBatch(additions: page.samples.map(\.sample)))
          count += page.samples.count
          offset += Self.limit
        } while page.hasMore
      }
      return (count, client.connection.bytesReceived)
    }
  }

  /// Returns the times for pages at the beginning and the end of the most frequent type, in milliseconds.
  private func deepPages(at port: Int) async throws -> (offset: Int, first: [Double], deep: [Double]) {
    let repeats = bench.sizes.shortRepeats
    return try await connected(to: port) { client in
      guard let most = try await client.types().max(by: { $0.sampleCount < $1.sampleCount }) else {
        throw BenchFailure("The server has no types.")
      }
      let offset = max(0, most.sampleCount - Self.limit)
      var times: [[Double]] = [[], []]
      for _ in 0...repeats {
        for (index, offset) in [0, offset].enumerated() {
          let started = ContinuousClock.now
          _ = try await client.page(of: most.identifier, offset: offset, limit: Self.limit)
          times[index].append(started.duration(to: .now).seconds * 1000)
        }
      }
      return (offset, Array(times[0].dropFirst()), Array(times[1].dropFirst()))
    }
  }

  private func connected<Result: Sendable>(
    to port: Int, _ body: (PageClient) async throws -> Result
  ) async throws -> Result {
    let home = try await bench.homes.client(port: port)
    defer { bench.workspace.remove(home) }
    let directory = URL(fileURLWithPath: home)
    guard let server = try await PeerRegistry.open(in: directory).servers().first else {
      throw BenchFailure("The client is paired with nobody.")
    }
    return try await PeerConnection.withConnection(
      to: PeerEndpoint(host: "127.0.0.1", port: port), trust: .pinned(server.fingerprint, peer: server.name),
      identity: try await IdentityStore.loadOrCreate(in: directory)
    ) { connection in try await body(PageClient(connection: connection, credential: server.credential)) }
  }
}
