import Foundation
import PeerClient
import PeerProtocol
import PeerTrust

/// The way of HealthAppTransfer's clients: pages of a thousand samples of one type, by offset.
///
/// The pages are decoded and thrown away, so that the ratio is rather too small than too large.
struct JSONPages {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  private static let limit = 1000

  func measure() async throws -> Row {
    let few = try await Server(bench, home: try await bench.homes.server(of: bench.sizes.json))
    var rates: [Double] = []
    var pulls: [TimedPull] = []
    var bytes = Double.nan
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let started = ContinuousClock.now
      let (count, received) = try await everything(at: few.port)
      let seconds = started.duration(to: .now).seconds
      let pull = try await TimedPull(bench, server: few)
      guard round >= bench.sizes.warmUps else { continue }
      rates.append(Double(count) / seconds)
      bytes = Double(received) / Double(count)
      pulls.append(pull)
    }
    try await few.service.stop()
    let many = try await Server(bench, home: try await bench.homes.server(of: bench.sizes.samples))
    let pages = try await deepPages(at: many.port)
    try await many.service.stop()

    var row = Row(.json)
    row.add("JSON pages of \(bench.sizes.json) samples, decoded, not stored", medianOf: rates, .perSecond)
    row.add("pull of the same, stored", medianOf: pulls.map(\.rate), .perSecond)
    row.add("pull / JSON pages", median(pulls.map(\.rate)) / median(rates), .ratio, goal: .atLeast(10))
    row.add("JSON", bytes, .bytesPerSample)
    row.add("a page at offset 0", medianOf: pages.first, .milliseconds)
    row.add("a page at offset \(pages.offset)", medianOf: pages.deep, .milliseconds)
    return row
  }

  /// Fetches all pages of all types; how many samples that were, and the bytes of the answers.
  private func everything(at port: Int) async throws -> (count: Int, bytes: Int) {
    try await connected(to: port) { client in
      var count = 0
      for type in try await client.types() {
        var page: Page
        var offset = 0
        repeat {
          page = try await client.page(of: type.identifier, offset: offset, limit: Self.limit)
          count += page.samples.count
          offset += Self.limit
        } while page.hasMore
      }
      return (count, client.connection.bytesReceived)
    }
  }

  /// Milliseconds that pages take, at the beginning and the end of the most frequent type.
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

/// Asks for pages over one connection.
private struct PageClient {
  let connection: PeerConnection
  let credential: BearerCredential

  func types() async throws -> [TypeList.Entry] {
    try await get(Route.types, as: Envelope<TypeList>.self).data.types
  }

  func page(of type: String, offset: Int, limit: Int) async throws -> Page {
    try await get("\(Route.data)?type=\(type)&offset=\(offset)&limit=\(limit)", as: Envelope<Page>.self).data
  }

  private func get<Answer: Decodable>(_ path: String, as type: Answer.Type) async throws -> Answer {
    let head = try await connection.send(.GET, path, headers: [("Authorization", "Bearer \(credential.text)")])
    let body = try await connection.body(limit: 64 << 20)
    guard head.status == .ok else {
      throw BenchFailure("GET \(path) was answered with \(head.status.code): \(String(decoding: body, as: UTF8.self))")
    }
    return try JSONDecoder().decode(type, from: body)
  }
}

/// What a client of the app reads of `GET /health/types`.
private struct TypeList: Decodable, Sendable {
  struct Entry: Decodable, Sendable {
    var identifier: String
    var sampleCount: Int
  }

  var types: [Entry]
}

/// What a client of the app reads of `GET /health/data`.
private struct Page: Decodable, Sendable {
  struct Entry: Decodable, Sendable {
    var id: UUID
    var type: String
    var startDate: String
    var endDate: String
    var sourceName: String
    var sourceBundleIdentifier: String?
    var value: Double?
    var unit: String?
    var categoryValue: Int?
    var workoutActivityType: UInt?
    var workoutDuration: Double?
    var workoutTotalEnergyBurned: Double?
    var workoutTotalDistance: Double?
    var correlationValues: [String: Double]?
    var metadataJSON: String?
  }

  var samples: [Entry]
  var hasMore: Bool
}
