import PeerClient
import PeerProtocol
import Testing

@testable import PeerServer

@Suite("Pulling from a server that has its hands full", .timeLimit(.minutes(5))) struct BusyServerTests {
  @Test("a pull that finds no place says when to come again, and has its turn then")
  func noPlace() async throws {
    var options = ServerOptions(samples: Samples.bulky(9_000))
    options.serving.pairedConnections = 1
    try await withServer(options) { server in
      let (first, second) = (try await server.token().token, try await server.record().server)
      try await withStore { store in
        let pull = Pull(into: store, from: second, at: server.endpoint)
        try await PeerConnection.withConnection(to: server.endpoint, trust: server.trust) { connection in
          // More than the kernel keeps for a client that does not read: this one stays at work.
          _ = try await connection.send(
            .GET, Route.changes,
            headers: [("Authorization", "Bearer \(first.text)"), ("Accept", ChangeFeedFormat.lines.rawValue)])
          await #expect(throws: PeerError.busy(retryAfter: 5)) { try await pull.run() }
        }
        #expect(try await store.total() == 0)
        let done = try await eventually {
          do { return try await pull.run() } catch PeerError.busy { return nil }
        }
        #expect(done.added == 9_000)
      }
    }
  }
}
