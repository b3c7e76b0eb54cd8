import Foundation
import PeerDiscovery
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerClient

@Suite("Where a paired machine is now")
struct PeerLocatorTests {
  private static let limits = PeerLocator.Limits(
    headStart: .milliseconds(50), listening: .milliseconds(400), grace: .milliseconds(400), probesAtOnce: 4,
    candidates: 40)

  /// Locates a peer among endpoints whose host determines the answer: `right`, `other` certificate, `closed`, or
  /// `hangs`.
  private static func locate(
    known: [PeerEndpoint] = [], excluding: Set<PeerEndpoint> = [], hearing: [PeerLocator.Hearing] = [.listening],
    dialect: String = "hpeer"
  ) async throws -> PeerEndpoint {
    let server = ServerRecord(
      id: try makePeerID(), name: "studio", fingerprint: try await makeIdentity().fingerprint,
      credential: BearerCredential(.random()), dialect: dialect)
    let other = try await makeIdentity().fingerprint
    let locator = PeerLocator(
      server: server, limits: limits,
      probe: { endpoint in
        switch endpoint.host.prefix(while: \.isLetter) {
        case "right": return
        case "other":
          throw PeerError.certificateChanged(peer: "studio", pinned: server.fingerprint, seen: other)
        case "closed": throw PeerError.unreachable(endpoint: endpoint.description, reason: "closed")
        default: try await Task.sleep(for: .seconds(3600))
        }
      },
      hear: { heard in for item in hearing { heard(item) } })
    return try await locator.locate(known: known, excluding: excluding)
  }

  private static func at(_ host: String) -> PeerEndpoint { PeerEndpoint(host: host, port: 1) }

  private static func candidate(_ host: String, claimsID: Bool = true) -> PeerLocator.Hearing {
    .candidate(at(host), claimsID: claimsID)
  }

  @Test("where it was, without asking the network")
  func known() async throws {
    #expect(try await Self.locate(known: [Self.at("right")], hearing: [Self.candidate("right2")]) == Self.at("right"))
  }

  @Test(
    "where it is announced, when the old address is dead, another's, or hangs", arguments: ["closed", "other", "hangs"])
  func announced(old: String) async throws {
    #expect(
      try await Self.locate(known: [Self.at(old)], hearing: [.listening, Self.candidate("right")]) == Self.at("right"))
  }

  @Test("one of many that claim its id, however many lie")
  func liars() async throws {
    let liars = (0..<30).map { Self.candidate("other\($0)") }
    #expect(try await Self.locate(hearing: [.listening] + liars + [Self.candidate("right")]) == Self.at("right"))
  }

  @Test("liars that hang take no more than their share of handshakes")
  func hanging() async throws {
    let hanging = (0..<3).map { Self.candidate("hangs\($0)") }
    #expect(try await Self.locate(hearing: [.listening] + hanging + [Self.candidate("right")]) == Self.at("right"))
  }

  @Test("under its name alone, too")
  func nameOnly() async throws {
    #expect(try await Self.locate(hearing: [.listening, Self.candidate("right", claimsID: false)]) == Self.at("right"))
  }

  @Test("a wrong certificate is the news, even where other addresses are dead")
  func changed() async throws {
    let error = await #expect(throws: PeerError.self) {
      try await Self.locate(
        known: [Self.at("closed")], hearing: [.listening, Self.candidate("other"), Self.candidate("closed2")])
    }
    guard case .certificateChanged = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("a namesake's certificate is nobody's business")
  func namesake() async throws {
    await #expect(throws: PeerError.unreachable(endpoint: "closed:1", reason: "closed")) {
      try await Self.locate(
        known: [Self.at("closed")], hearing: [.listening, Self.candidate("other", claimsID: false)])
    }
  }

  @Test("another phone, with the same app and name, where ours is looked for: ours is not there, or is found beside it")
  func siblingsPhone() async throws {
    for dialect in ["HealthAppTransfer", "HealthSync"] {
      await #expect(throws: PeerFinderError.notFound(name: "studio", seconds: 4, seen: [])) {
        try await Self.locate(hearing: [.listening, Self.candidate("other2", claimsID: false)], dialect: dialect)
      }
      #expect(
        try await Self.locate(
          known: [Self.at("other")],
          hearing: [.listening, Self.candidate("other2", claimsID: false), Self.candidate("right", claimsID: false)],
          dialect: dialect) == Self.at("right"))
    }
  }

  @Test("nobody: not found; and what the network's daemon says")
  func nobody() async throws {
    await #expect(throws: PeerFinderError.notFound(name: "studio", seconds: 4, seen: [])) { try await Self.locate() }
    await #expect(throws: DiscoveryError.daemonSilent(seconds: 4)) { try await Self.locate(hearing: []) }
    await #expect(throws: DiscoveryError.daemonNotRunning) {
      try await Self.locate(hearing: [.failed(DiscoveryError.daemonNotRunning)])
    }
    await #expect(throws: PeerError.unreachable(endpoint: "closed:1", reason: "closed")) {
      try await Self.locate(known: [Self.at("closed")], hearing: [.failed(DiscoveryError.daemonNotRunning)])
    }
  }

  @Test("an excluded address is not tried again")
  func excluded() async throws {
    await #expect(throws: PeerFinderError.self) {
      try await Self.locate(known: [Self.at("right")], excluding: [Self.at("right")], hearing: [.listening])
    }
  }

  @Test("a cancelled search ends at once")
  func cancelled() async throws {
    let search = Task { try await Self.locate(known: [Self.at("hangs")]) }
    search.cancel()
    await #expect(throws: (any Error).self) { try await search.value }
  }
}
