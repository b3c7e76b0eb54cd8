import Foundation
import HealthModel
import PeerClient
import PeerProtocol
import PeerTrust

/// A benchmark of the response times for a client while another paired client attacks the server: it leaves answers
/// unread on many connections and requests the most expensive answers in a loop.
struct HostileClient {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  private static let unread = 150
  private static let busy = 24
  /// The routes that the attacker requests in a loop.
  private static let expensive = ["\(Route.digest)?deep=1", Route.changes, "\(Route.data)?type=heartRate&limit=1000"]

  func measure() async throws -> Row {
    let server = try await Server(bench, home: try await bench.homes.server(of: bench.sizes.shared))
    let attacker = try await Client(bench, 1, port: server.port)
    let client = try await Client(bench, 0, port: server.port)
    let quiet = try await times(client)
    let attacked = try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<Self.unread { group.addTask { try await attacker.leaveUnread() } }
      for index in 0..<Self.busy { group.addTask { await attacker.ask(for: Self.expensive[index % 3]) } }
      // Until it has taken what it can get.
      try await Task.sleep(for: .seconds(2))
      defer { group.cancelAll() }
      return try await times(client)
    }
    let peak = Double(server.service.running.peak) / 1_048_576
    try await server.service.stop()

    var row = Row(.hostile)
    for (name, values, goal) in [
      ("status, alone", quiet.status, nil), ("first bytes of a pull, alone", quiet.pull, nil),
      ("status, the slowest", attacked.status, Measure.Goal.atMost(500)),
      ("first bytes of a pull, the slowest", attacked.pull, .atMost(500)),
    ] {
      if let goal {
        row.add("\(name) of \(values.count) beside it", values.max() ?? .nan, .milliseconds, goal: goal)
      } else {
        row.add(name, medianOf: values, .milliseconds)
      }
    }
    row.add("server", peak, .mebibytes, goal: .atMost(160))
    return row
  }

  private func times(_ client: Client) async throws -> (status: [Double], pull: [Double]) {
    var times: (status: [Double], pull: [Double]) = ([], [])
    for _ in 0..<bench.sizes.shortRepeats * 4 {
      times.status.append(try await client.milliseconds(to: Route.status))
      times.pull.append(try await client.milliseconds(to: Route.changes))
    }
    return times
  }

  /// A paired client that opens a new connection for each request.
  private struct Client: Sendable {
    private let endpoint: PeerEndpoint
    private let trust: CertificateTrust
    private let identity: PeerIdentity
    private let headers: [(String, String)]

    init(_ bench: Bench, _ index: Int, port: Int) async throws {
      let home = URL(fileURLWithPath: try await bench.homes.client(index, port: port))
      guard let server = try await PeerRegistry.open(in: home).servers().first else {
        throw BenchFailure("The client is not paired.")
      }
      identity = try await IdentityStore.loadOrCreate(in: home)
      endpoint = PeerEndpoint(host: "127.0.0.1", port: port)
      trust = .pinned(server.fingerprint, peer: server.name)
      headers = [("Authorization", "Bearer \(server.credential.text)")]
    }

    /// Returns the time from connecting to the first bytes of the body, in milliseconds.
    func milliseconds(to path: String) async throws -> Double {
      let started = ContinuousClock.now
      return try await connected { connection in
        guard try await connection.send(.GET, path, headers: headers).status == .ok else {
          throw BenchFailure("GET \(path) was refused beside the other client.")
        }
        _ = try await connection.nextBodyPart()
        return started.duration(to: .now).seconds * 1000
      }
    }

    func leaveUnread() async throws {
      try? await connected { connection in
        _ = try await connection.send(.GET, Route.changes, headers: headers)
        try await Task.sleep(for: .seconds(3600))
      }
    }

    /// Sends requests until the task is cancelled.
    func ask(for path: String) async {
      while !Task.isCancelled {
        try? await connected { connection in
          while true {
            _ = try await connection.send(.GET, path, headers: headers)
            while try await connection.nextBodyPart() != nil {}
          }
        }
      }
    }

    private func connected<Result: Sendable>(
      _ body: @Sendable (PeerConnection) async throws -> Result
    ) async throws -> Result {
      try await PeerConnection.withConnection(to: endpoint, trust: trust, identity: identity, body)
    }
  }
}
