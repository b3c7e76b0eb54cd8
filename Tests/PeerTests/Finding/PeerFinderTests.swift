import Foundation
import NIOConcurrencyHelpers
import PeerDiscovery
import PeerProtocol
import PeerTrust
import Testing
import TestSupport

@testable import PeerClient

@Suite("Which machine a person means")
struct PeerFinderTests {
  /// Runs `body` with a finder that has its own registry.
  private static func withFinder(
    firstHandshake: Duration = PeerFinder.firstHandshake, _ body: (PeerFinder, PeerRegistry) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { directory in
      let registry = try await PeerRegistry.open(in: directory)
      try await body(
        PeerFinder(registry: registry, ownID: try makePeerID(), firstHandshake: firstHandshake, escape: { $0 }),
        registry)
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

  @Test("the only address that is known is used without a handshake just to see; another is looked for if need be")
  func reachDirectly() async throws {
    let (other, limit) = (try await makeIdentity(), Duration.seconds(30))
    try await withServer { server in
      let record = try await server.record().server
      try await Self.withFinder(firstHandshake: limit) { finder, _ in
        func status(_ endpoint: PeerEndpoint) async throws -> (attempts: [Duration?], found: PeerEndpoint?) {
          var attempts: [Duration?] = []
          var found: PeerEndpoint?
          do {
            (_, found) = try await finder.reach(record, endpoints: [endpoint]) { endpoint, limit in
              attempts.append(limit)
              return try await PeerConnection.withConnection(
                to: endpoint, trust: server.trust, handshakeLimit: limit
              ) { try await $0.status() }
            }
          } catch  where error is PeerError || error is DiscoveryError || error is PeerFinderError {
            // Which one depends on whether this machine has an avahi-daemon.
          }
          return (attempts, found)
        }
        try await withRelay(to: server.port) { relay in
          let endpoint = PeerEndpoint(host: "127.0.0.1", port: relay.port)
          let (attempts, found) = try await status(endpoint)
          #expect(attempts == [limit])
          #expect(found == endpoint)
          #expect(relay.connections == 1)
        }
        // Nobody there, nobody who answers, somebody else: the locator has the last word, and nothing is tried for good.
        let closed = try await withListener { _, _ in
        } _: {
          PeerEndpoint(host: "127.0.0.1", port: $0)
        }
        #expect(try await status(closed).attempts == [limit])
        try await withCannedServer(tls: other) { _, _ in
        } _: { port, requests in
          let (attempts, _) = try await status(PeerEndpoint(host: "127.0.0.1", port: port))
          #expect(attempts == [limit])
          #expect(requests().isEmpty)
        }
      }
    }
  }

  @Test("one that accepts the connection and is slow to shake hands is waited for, as ever", .timeLimit(.minutes(5)))
  func reachSlow() async throws {
    try await withServer { server in
      let record = try await server.record().server
      try await Self.withFinder { finder, _ in
        let connections = NIOLockedValueBox(0)
        try await withListener { inbound, outbound in
          let number = connections.withLockedValue { count in
            count += 1
            return count
          }
          // The first says nothing for longer than the limit of a first handshake.
          if number == 1 { return try await Task.sleep(for: .seconds(30)) }
          try await relayOnce(inbound, outbound, to: server.port)
        } _: { port in
          let endpoint = PeerEndpoint(host: "127.0.0.1", port: port)
          let (status, found) = try await finder.reach(record, endpoints: [endpoint]) { endpoint, limit in
            try await PeerConnection.withConnection(to: endpoint, trust: server.trust, handshakeLimit: limit) {
              try await $0.status()
            }
          }
          #expect(status.id == server.identity.id.hex)
          #expect(found == endpoint)
        }
      }
    }
  }

  @Test("an error that another address cannot mend is not tried again")
  func reachRefused() async throws {
    try await withServer { server in
      let record = try await server.record().server
      try await Self.withFinder { finder, _ in
        var attempts = 0
        await #expect(throws: PeerError.tokenRefused(peer: "studio")) {
          _ = try await finder.reach(record, endpoints: [server.endpoint, server.endpoint]) { _ in
            attempts += 1
            throw PeerError.tokenRefused(peer: "studio")
          }
        }
        #expect(attempts == 1)
      }
    }
  }

  @Test("what answers at the address that was given is named, and not that nobody else could be looked for")
  func reachStranger() async throws {
    try await withServer { server in
      let record = try await server.record().server
      try await Self.withFinder { finder, _ in
        let stranger = PeerError.notHpeer(endpoint: "127.0.0.1:1", detail: "its answer is not HTTP")
        await #expect(throws: stranger) {
          _ = try await finder.reach(record, endpoints: [server.endpoint]) { _, _ in throw stranger }
        }
      }
    }
  }

  @Test("pairing takes the first address that answers as an hpeer")
  func firstAnswering() async throws {
    let closed = try await withListener { _, _ in
    } _: {
      PeerEndpoint(host: "127.0.0.1", port: $0)
    }
    try await withServer { server in
      let endpoint = try await PeerFinder.firstAnswering([closed, server.endpoint])
      #expect(endpoint == server.endpoint)
    }
    for endpoints in [[closed, closed], []] {
      let error = await #expect(throws: PeerError.self) { () async throws -> Void in
        _ = try await PeerFinder.firstAnswering(endpoints)
      }
      guard case .unreachable = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }

  @Test("a name that several machines claim is nobody's; something that is no hpeer does not contend")
  func namesakes() async throws {
    try await Self.withFinder { finder, _ in
      func peer(_ id: String?, at address: String) -> DiscoveredService {
        DiscoveredService(
          name: "studio", hostName: "x.local", address: address, addressFamily: .ipv4, port: 1, interfaceName: "eth0",
          interfaceIndex: 2, txt: id.map { ["id": $0] } ?? [:])
      }
      let (one, other) = (String(repeating: "1", count: 32), String(repeating: "2", count: 32))
      let seen = DiscoveredPeer.group([peer(nil, at: "10.0.0.1"), peer(one, at: "10.0.0.2"), peer(one, at: "10.0.0.3")])
      let chosen = try finder.choose(among: seen, called: "Studio")
      #expect(chosen.endpoints.map(\.host) == ["10.0.0.2", "10.0.0.3"])
      let both = seen + DiscoveredPeer.group([peer(other, at: "10.0.0.4")])
      #expect(throws: PeerFinderError.sameName("studio", ids: ["11111111", "22222222"])) {
        try finder.choose(among: both, called: "studio")
      }
      let byID = try finder.choose(among: both, called: "2222")
      #expect(byID.id?.hex == other)
      #expect(throws: PeerFinderError.notFound(name: "attic", seconds: 4, seen: ["studio", "studio", "studio"])) {
        try finder.choose(among: both, called: "attic")
      }
    }
  }

  @Test("a sentence names a few of a thousand")
  func manyNames() {
    let names = (0..<1000).map { "fake \($0)" }
    for error in [
      PeerFinderError.nobody(seconds: 4, others: names), .notFound(name: "x", seconds: 4, seen: names),
      .several(names, paired: false), .sameName("x", ids: names),
    ] {
      #expect(error.description.contains("fake 7 and 992 more"))
      #expect(error.description.utf8.count < 400)
    }
  }
}
