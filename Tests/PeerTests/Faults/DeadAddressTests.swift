import Foundation
import PeerClient
import PeerTrust
import TestSupport
import Testing

@Suite("A peer with several addresses, some of them dead")
struct DeadAddressTests {
  private static func withHoles(
    _ body: @Sendable (_ holes: [PeerEndpoint], PeerFinder, TestServer) async throws -> Void
  ) async throws {
    try await withServer { server in
      let holes = try (0..<6).map { _ in try BlackHole() }
      try await withTemporaryDirectory { directory in
        let registry = try await PeerRegistry.open(in: directory)
        let finder = PeerFinder(registry: registry, ownID: try makePeerID(), escape: { $0 })
        try await body(holes.map { PeerEndpoint(host: "127.0.0.1", port: $0.port) }, finder, server)
      }
      withExtendedLifetime(holes) {}
    }
  }

  @Test(
    "no time is spent on addresses that swallow everything, and each that answers is tried", .timeLimit(.minutes(5)))
  func blackHoles() async throws {
    let refusing = try await withListener { _, _ in
    } _: {
      PeerEndpoint(host: "127.0.0.1", port: $0)
    }
    try await Self.withHoles { holes, finder, server in
      let record = try await server.record().server
      var attempts: [PeerEndpoint] = []
      let (status, endpoint) = try await finder.reach(
        record, endpoints: holes.prefix(2) + [refusing, server.endpoint] + holes.dropFirst(2)
      ) { endpoint in
        attempts.append(endpoint)
        return try await PeerConnection.withConnection(to: endpoint, trust: server.trust) { try await $0.status() }
      }
      #expect(status.id == server.identity.id.hex)
      #expect(endpoint == server.endpoint)
      #expect(attempts == [server.endpoint])
    }
  }

  @Test("a machine that answers at an old address of the peer's, but is another one, is not the end")
  func addressOfAnother() async throws {
    let other = try await makeIdentity()
    try await withCannedServer(tls: other) { _, _ in
    } _: { port, requests in
      let stranger = PeerEndpoint(host: "127.0.0.1", port: port)
      try await Self.withHoles { holes, finder, server in
        let record = try await server.record().server
        let (_, endpoint) = try await finder.reach(record, endpoints: [stranger, holes[0], server.endpoint]) {
          endpoint in
          try await PeerConnection.withConnection(to: endpoint, trust: server.trust) { try await $0.status() }
        }
        #expect(endpoint == server.endpoint)
      }
      #expect(requests().isEmpty)
    }
  }

  @Test("where nothing answers, the first address says why", .timeLimit(.minutes(5)))
  func nothingAnswers() async throws {
    try await Self.withHoles { holes, _, _ in
      await #expect(
        throws: PeerError.unreachable(endpoint: holes[0].description, reason: "no answer within 5 seconds")
      ) { try await PeerFinder.firstAnswering(Array(holes.prefix(3))) }
    }
  }

  @Test("a cancelled search does not wait for dead addresses", .timeLimit(.minutes(5)))
  func cancelled() async throws {
    try await Self.withHoles { holes, finder, server in
      let record = try await server.record().server
      let task = Task {
        try await finder.reach(record, endpoints: holes) { endpoint in
          try await PeerConnection.withConnection(to: endpoint, trust: server.trust) { try await $0.status() }
        }
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { _ = try await task.value }
    }
  }

  @Test("an address that swallows everything is called unreachable, never a lost connection", .timeLimit(.minutes(5)))
  func unreachable() async throws {
    try await Self.withHoles { holes, _, _ in
      await withTaskGroup(of: Void.self) { group in
        for hole in holes {
          group.addTask {
            await #expect(
              throws: PeerError.unreachable(endpoint: hole.description, reason: "no answer within 5 seconds")
            ) {
              try await PeerConnection.withConnection(to: hole, trust: .anyForPairing) { _ in }
            }
          }
        }
      }
    }
  }
}
