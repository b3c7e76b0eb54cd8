import Foundation
import PeerDiscovery
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerClient
@testable import PeerServer

@Suite("Trying a paired machine", .timeLimit(.minutes(5)))
struct PeerDiagnosticsTests {
  private static func announcement(
    _ name: String, id: PeerID?, port: Int, address: String = "127.0.0.1"
  ) -> DiscoveredService {
    DiscoveredService(
      name: name, hostName: "\(name).local", address: address, addressFamily: .ipv4, port: UInt16(port),
      interfaceName: "lo", interfaceIndex: 1, txt: id.map { ["id": $0.hex] } ?? [:])
  }

  private static func tester(_ services: [DiscoveredService] = [], identity: PeerIdentity?) -> PeerDiagnostics {
    PeerDiagnostics(identity: identity) { DiscoveredPeer.group(services) }
  }

  /// Returns a port of this machine on which nothing listens.
  private static func freePort() async throws -> Int {
    try await withListener { _, _ in
    } _: {
      $0
    }
  }

  @Test("all well: where it is announced and was last, its certificate, its name, its clock and the token")
  func healthy() async throws {
    let laptop = try await makeIdentity()
    try await withServer { server in
      let record = try await server.record(certificate: laptop.fingerprint).server
      let tester = Self.tester(
        [Self.announcement(TestServer.name, id: server.identity.id, port: server.port)], identity: laptop)
      let trial = await tester.tryOut(record)
      #expect(trial.addresses == [.init(server.endpoint, isAnnounced: true, .proven)])
      #expect(trial.deafness == nil)
      let statement = try #require(try trial.answer?.get())
      #expect(statement.name == TestServer.name && statement.version == TestServer.version)
      #expect(statement.token == .accepted)
      #expect(abs(try #require(statement.clockLead)) < 60)
    }
  }

  @Test("what the other end sees is asked for only on request")
  func otherEnd() async throws {
    let laptop = try await makeIdentity()
    try await withServer { server in
      let record = try await server.record(certificate: laptop.fingerprint).server
      let answer = try await Self.tester(identity: laptop).tryOut(record, asksOtherEnd: true).answer?.get()
      guard case .said(let view)? = answer?.otherEnd else {
        Issue.record("\(String(describing: answer))")
        return
      }
      #expect(view.address == "127.0.0.1" && view.scope == .everything)
      // It was not there before, and not a moment ago with another of these requests.
      #expect(view.lastSeen == nil)
      #expect(try await Self.tester(identity: laptop).tryOut(record).answer?.get().otherEnd == nil)
      #expect(try await server.audited(.pairingRead).count == 1)
    }
  }

  @Test(
    "another answer than the other end's: an older version, something malformed; more than it may be ends the trial",
    arguments: [
      ("404 Not Found", "{}", true), ("405 Method Not Allowed", "{}", true), ("200 OK", #"{"data":{}}"#, false),
      ("200 OK", "{", false), ("200 OK", #"{"data":"# + String(repeating: "[", count: 40_000), false),
      ("200 OK", String(repeating: " ", count: 70_000), false), ("500 Internal Server Error", "{}", false),
    ])
  func otherEndIsHostile(status: String, body: String, isOlder: Bool) async throws {
    let (laptop, studio) = (try await makeIdentity(), try await makeIdentity())
    let said =
      #"{"success":true,"data":{"status":"running","version":"1","deviceName":"studio","availableTypes":0,"protocol":"hpeer/1"}}"#
    let trial = try await withCannedServer(
      tls: studio,
      answer: { request, outbound in
        let isAsked = request.hasPrefix("GET \(Route.pairing) ")
        try await outbound.write(isAsked ? httpResponse(body, status: status) : httpResponse(said))
      }
    ) { port, _ in
      let record = ServerRecord(
        id: studio.id, name: "studio", fingerprint: studio.fingerprint, credential: BearerCredential(.random()),
        host: "127.0.0.1", port: UInt16(port))
      return await Self.tester(identity: laptop).tryOut(record, asksOtherEnd: true)
    }
    guard body.utf8.count <= ClientLimits().pairingView.bytes else {
      #expect(trial.answer.map { if case .failure(.unexpectedAnswer) = $0 { true } else { false } } == true)
      return
    }
    // What it says beside that is told all the same.
    let statement = try #require(try trial.answer?.get())
    #expect(statement.token == .accepted)
    switch statement.otherEnd {
    case .older: #expect(isOlder)
    case .unclear(let reason): #expect(!isOlder && !reason.isEmpty)
    case .said, nil: Issue.record("\(statement)")
    }
  }

  @Test(
    "the way back: to where the machine was last and nowhere else, with its certificate or another, or nothing there")
  func wayBack() async throws {
    let stranger = try await makeIdentity()
    try await withServer { server in
      var record = try await server.record().server
      let place = "127.0.0.1:\(server.port)"
      #expect(await PeerDiagnostics.wayBack(to: record) == .init(endpoint: place, outcome: .reached))
      record.fingerprint = stranger.fingerprint
      #expect(await PeerDiagnostics.wayBack(to: record) == .init(endpoint: place, outcome: .otherCertificate))
      record.port = UInt16(try await Self.freePort())
      #expect(await PeerDiagnostics.wayBack(to: record).outcome == .unreachable)
      record.host = nil
      #expect(await PeerDiagnostics.wayBack(to: record) == .init(endpoint: nil, outcome: .untried))
    }
  }

  @Test("a machine that its owner has locked, and one that gives numbers of days only, know the token")
  func lockedAndDaily() async throws {
    let laptop = try await makeIdentity()
    try await withServer { server in
      let (client, record) = try await server.record(certificate: laptop.fingerprint)
      func verdict() async throws -> PeerDiagnosis.Verdict? {
        try await Self.tester(identity: laptop).tryOut(record).answer?.get().token
      }
      try await server.registry.setOnlyDaily(true, ofClient: client)
      #expect(try await verdict() == .accepted)
      _ = try await server.registry.lock()
      #expect(try await verdict() == .locked)
    }
  }

  @Test("a token that was revoked, one whose certificate is missing, and no certificate to try it with")
  func tokens() async throws {
    let laptop = try await makeIdentity()
    let other = try await makeIdentity()
    try await withServer { server in
      let (client, record) = try await server.record(certificate: laptop.fingerprint)
      func verdict(_ identity: PeerIdentity?) async throws -> PeerDiagnosis.Verdict? {
        try await Self.tester(identity: identity).tryOut(record).answer?.get().token
      }
      #expect(try await verdict(laptop) == .accepted)
      #expect(try await verdict(other) == .refused)
      #expect(try await verdict(nil) == .untried)
      try await server.registry.revoke(matching: client.hex)
      #expect(try await verdict(laptop) == .refused)
    }
  }

  @Test("another machine where it was last, itself where it is announced: it is found, and the other is told nothing")
  func moved() async throws {
    let laptop = try await makeIdentity()
    try await withServer { server in
      var record = try await server.record(certificate: laptop.fingerprint).server
      let stranger = try await makeIdentity()
      let seen = stranger.fingerprint
      try await withCannedServer(tls: stranger, answer: { _, _ in }) { port, requests in
        record.port = UInt16(port)
        let tester = Self.tester(
          [Self.announcement("studio #2", id: server.identity.id, port: server.port)], identity: laptop)
        let trial = await tester.tryOut(record)
        let old = PeerEndpoint(host: "127.0.0.1", port: port)
        #expect(
          trial.addresses == [
            .init(server.endpoint, isAnnounced: true, .proven), .init(old, isAnnounced: false, .otherCertificate(seen)),
          ])
        let statement = try trial.answer?.get()
        #expect(statement?.token == .accepted)
        #expect(requests().isEmpty)
        // Somebody with its name only, while it is not there, is no impostor.
        record.host = nil
        let namesake = await Self.tester([Self.announcement("studio", id: nil, port: port)], identity: laptop).tryOut(
          record)
        #expect(namesake.addresses == [.init(old, isAnnounced: true, claimsID: false, .otherCertificate(seen))])
        #expect(namesake.answer == nil)
      }
    }
  }

  @Test("nothing there, something that is not TLS, something that is no hpeer, and nobody to ask for announcements")
  func absent() async throws {
    let laptop = try await makeIdentity()
    let identity = try await makeIdentity()
    func record(_ port: Int) throws -> ServerRecord {
      ServerRecord(
        id: try makePeerID(), name: "studio", fingerprint: identity.fingerprint,
        credential: BearerCredential(.random()),
        host: "127.0.0.1", port: UInt16(port))
    }
    let deaf = PeerDiagnostics(identity: laptop) { throw DiscoveryError.daemonNotRunning }
    let closed = await deaf.tryOut(try record(try await Self.freePort()))
    #expect(closed.deafness == "\(DiscoveryError.daemonNotRunning)")
    #expect(closed.answer == nil && closed.addresses.count == 1)
    guard case .unreachable = closed.addresses.first?.outcome else {
      Issue.record("\(closed)")
      return
    }
    let plain = try await withListener { inbound, outbound in
      for try await _ in inbound { try await outbound.write(httpResponse("{}")) }
    } _: {
      await deaf.tryOut(try record($0))
    }
    guard case .notTLS = plain.addresses.first?.outcome else {
      Issue.record("\(plain)")
      return
    }
    let foreign = try await withCannedServer(
      tls: identity,
      answer: { _, outbound in
        try await outbound.write(httpResponse("{}", status: "404 Not Found"))
      }
    ) { port, _ in await deaf.tryOut(try record(port)) }
    #expect(foreign.addresses.first?.outcome == .proven)
    guard case .failure(.notHpeer)? = foreign.answer else {
      Issue.record("\(foreign)")
      return
    }
  }
}
