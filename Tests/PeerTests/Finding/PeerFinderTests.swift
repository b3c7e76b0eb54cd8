import Foundation
import PeerClient
import PeerDiscovery
import PeerProtocol
import PeerTrust
import Testing

@Suite("Which machine a person means")
struct PeerFinderTests {
  /// A finder with a list of its own.
  private static func withFinder(_ body: (PeerFinder, PeerRegistry) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
      let registry = try await PeerRegistry.open(in: directory)
      try await body(PeerFinder(registry: registry, ownID: try makePeerID(), escape: { $0 }), registry)
    }
  }

  @Test("an address is of the paired machine that answers there, or was last seen there, or of a stranger")
  func targetAtAddress() async throws {
    try await withServer { server in
      try await Self.withFinder { finder, registry in
        guard case .unpaired(let name, let endpoints) = try await finder.target(at: server.endpoint) else {
          Issue.record("paired with nobody yet")
          return
        }
        #expect(name == TestServer.name)
        #expect(endpoints == [server.endpoint])

        var record = try await server.record().server
        record.host = nil
        record.port = nil
        try await registry.addServer(record)
        guard case .paired(let known, _) = try await finder.target(at: server.endpoint) else {
          Issue.record("its id is known")
          return
        }
        #expect(known.id == server.identity.id)

        // Nobody has to answer at an address that is in the list.
        let away = PeerEndpoint(host: "192.0.2.1", port: 1)
        try await registry.updateServer(id: record.id, host: away.host, port: UInt16(away.port))
        guard case .paired(_, let hint) = try await finder.target(at: away) else {
          Issue.record("its address is known")
          return
        }
        #expect(hint == [away])
      }
    }
  }

  @Test("the first address that can be reached is used")
  func reach() async throws {
    let closed = try await withListener { _, _ in
    } _: {
      PeerEndpoint(host: "127.0.0.1", port: $0)
    }
    try await withServer { server in
      let record = try await server.record().server
      try await Self.withFinder { finder, _ in
        let (status, endpoint) = try await finder.reach(record, endpoints: [closed, server.endpoint]) { endpoint in
          try await PeerConnection.withConnection(to: endpoint, trust: server.trust) { try await $0.status() }
        }
        #expect(status.id == server.identity.id.hex)
        #expect(endpoint == server.endpoint)
      }
    }
  }

  @Test("an error that another address cannot mend is not tried again")
  func reachRefused() async throws {
    try await Self.withFinder { finder, _ in
      let record = ServerRecord(
        id: try makePeerID(), name: "studio", fingerprint: try await makeIdentity().fingerprint,
        credential: BearerCredential(.random()))
      var attempts = 0
      await #expect(throws: PeerError.tokenRefused(peer: "studio")) {
        _ = try await finder.reach(
          record, endpoints: [PeerEndpoint(host: "a", port: 1), PeerEndpoint(host: "b", port: 1)]
        ) { _ in
          attempts += 1
          throw PeerError.tokenRefused(peer: "studio")
        }
      }
      #expect(attempts == 1)
    }
  }
}
