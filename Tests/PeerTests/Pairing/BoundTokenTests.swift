import Foundation
import HealthModel
import HealthStore
import NIOHTTP1
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

extension TestServer {
  /// Returns the status of a request with a token over a connection with `identity`'s certificate.
  fileprivate func status(
    _ token: BearerToken, showing identity: PeerIdentity?, and statement: RotationStatement? = nil,
    for method: HTTPMethod = .GET, _ path: String = Route.types
  ) async throws -> Int {
    try await PeerConnection.withConnection(to: endpoint, trust: trust, identity: identity) { connection in
      var headers = [("Authorization", "Bearer \(token.text)")]
      if let statement { headers.append((RotationStatement.header, statement.text)) }
      let head = try await connection.send(method, path, headers: headers)
      _ = try await connection.body()
      return Int(head.status.code)
    }
  }

  fileprivate func pair(
    _ identity: PeerIdentity?, calledBy id: PeerID? = nil, scope: SampleFilter? = nil
  ) async throws -> PairedServer {
    let window = try await desk.open(scope: scope)
    let session = try await PairingSession.open(at: endpoint)
    return try await session.pair(
      code: window.code, clientID: try id ?? identity?.id ?? makePeerID(), certificate: identity, name: "laptop")
  }
}

/// Returns an identity before and after its certificate was rotated.
private func makeRotated() async throws -> (old: PeerIdentity, new: PeerIdentity) {
  try await withTemporaryDirectory { directory in
    let old: PeerIdentity = try await IdentityStore.loadOrCreate(in: directory)
    return (old, try await IdentityStore.rotate(in: directory))
  }
}

@Suite("Tokens bound to the client's certificate")
struct BoundTokenTests {
  @Test("a token works only together with the certificate that it was issued to")
  func stolenToken() async throws {
    let laptop = try await makeIdentity()
    let thief = try await makeIdentity()
    try await withServer { server in
      let token = try await server.pair(laptop).token
      let client = try #require(try await server.registry.clients().first)
      #expect(client.isBound)
      #expect(client.certificateFingerprint == laptop.fingerprint)
      #expect(try await server.status(token, showing: laptop) == 200)
      #expect(try await server.status(token, showing: nil) == 401)
      #expect(try await server.status(token, showing: thief) == 401)
      #expect(try await server.status(token, showing: thief, for: .DELETE, Route.pairing) == 401)
      let refused = try await server.audited(.tokenRefused)
      #expect(refused.contains { $0.detail["reason"] == "wrongCertificate" && $0.detail["id"] == client.id.hex })
      #expect(try await server.status(token, showing: laptop) == 200)
    }
  }

  @Test("whatever protocols a client offers, a bound token needs its certificate, which only hpeer's is asked for")
  func offeredProtocols() async throws {
    let laptop = try await makeIdentity()
    try await withServer { server in
      let token = try await server.token(certificate: laptop.fingerprint).token
      func status(_ protocols: [String], _ identity: PeerIdentity?) async throws -> Substring {
        let request =
          "GET \(Route.types) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token.text)\r\nConnection: close\r\n\r\n"
        return try await rawExchange(server.port, request, offering: protocols, showing: identity).prefix(12)
      }
      #expect(try await status(["hpeer/1", "http/1.1"], laptop) == "HTTP/1.1 200")
      #expect(try await status(["h2", "hpeer/1"], laptop) == "HTTP/1.1 200")
      for protocols in [[], ["http/1.1"], ["h2", "http/1.1"], ["hpeer/10", "hpeer"], ["hpeer/1"]] {
        #expect(try await status(protocols, nil) == "HTTP/1.1 401", "\(protocols)")
        if !protocols.contains("hpeer/1") {
          #expect(try await status(protocols, laptop) == "HTTP/1.1 401", "\(protocols)")
        }
      }
    }
  }

  @Test("a client that shows no certificate gets an unbound token, which works with any and is listed as such")
  func unbound() async throws {
    let other = try await makeIdentity()
    try await withServer { server in
      let token = try await server.pair(nil).token
      #expect(try await server.registry.clients().map(\.isBound) == [false])
      #expect(try await server.status(token, showing: nil) == 200)
      #expect(try await server.status(token, showing: other) == 200)
    }
  }

  @Test(
    "the certificate is part of what both sides prove: showing another one in the handshake fails like a wrong code")
  func exchangedCertificate() async throws {
    let laptop = try await makeIdentity()
    try await withServer { server in
      let window = try await server.desk.open()
      let hello = await server.desk.hello()
      // As if somebody in between had ended the client's TLS and begun one with a certificate of its own.
      let exchange = try await PairingClientExchange(
        hello: hello, code: window.code, clientID: laptop.id, name: "laptop",
        serverFingerprint: server.identity.fingerprint, clientFingerprint: laptop.fingerprint)
      let start = exchange.startRequest
      let response = try await server.desk.start(
        start, clientFingerprint: try await makeIdentity().fingerprint, from: "elsewhere")
      let confirmation = try exchange.confirm(response)
      await #expect(throws: PairRejection.wrongCode(attemptsLeft: 4)) {
        try await server.desk.finish(confirmation.finishRequest)
      }
    }
  }

  @Test("pulling and unpairing show the certificate")
  func pullAndUnpair() async throws {
    let laptop = try await makeIdentity()
    try await withServer(ServerOptions(samples: Samples.heartRates(10))) { server in
      let record = ServerRecord(
        try await server.pair(laptop), name: TestServer.name, host: "127.0.0.1", port: UInt16(server.port))
      try await withStore { store in
        await #expect(throws: PeerError.tokenRefused(peer: TestServer.name)) {
          try await Pull(into: store, from: record, at: server.endpoint).run()
        }
        let done = try await Pull(into: store, from: record, at: server.endpoint, identity: laptop).run()
        #expect(done.added == 10)
      }
      try await Unpair.tell(record, at: server.endpoint, identity: laptop)
      #expect(try await server.registry.clients().allSatisfy { $0.revoked != nil })
    }
  }

  @Test("a machine is its certificate: another id sheds no limits, and nobody's id makes it another machine")
  func chosenID() async throws {
    let guest = try await makeIdentity()
    let other = try await makeIdentity()
    try await withServer { server in
      let narrow = SampleFilter(types: [SampleType("HKQuantityTypeIdentifierHeartRate")])
      _ = try await server.pair(guest, scope: narrow)
      let token = try await server.pair(guest, calledBy: makePeerID()).token
      var clients = try await server.registry.clients()
      #expect(clients.map(\.id) == [PeerID(certificate: guest.fingerprint)])
      #expect(clients.map(\.scope) == [narrow])
      for id in [guest.id, PeerID(certificate: guest.fingerprint)] { _ = try await server.pair(other, calledBy: id) }
      clients = try await server.registry.clients()
      #expect(clients.map(\.certificateFingerprint) == [guest.fingerprint, other.fingerprint])
      #expect(clients.map(\.scope) == [narrow, .everything])
      #expect(try await server.status(token, showing: guest) == 200)
      let paired = try await eventually {
        let events = try await server.audited(.pairingSucceeded)
        return events.count == 4 ? events : nil
      }
      let ids = [guest, guest, other, other].map { PeerID(certificate: $0.fingerprint).hex }
      #expect(paired.map { $0.detail["id"] } == ids)
    }
  }

  @Test("a new certificate that the old key has signed is let in with the old token, and the old one no more")
  func rotation() async throws {
    let (old, new) = try await makeRotated()
    let thief = try await makeIdentity()
    let narrow = SampleFilter(types: [SampleType("HKQuantityTypeIdentifierHeartRate")])
    try await withServer { server in
      let token = try await server.pair(old, scope: narrow).token
      #expect(try await server.status(token, showing: thief, and: new.rotation) == 401)
      #expect(try await server.status(token, showing: nil, and: new.rotation) == 401)
      #expect(try await server.status(token, showing: old) == 200)
      #expect(try await server.status(token, showing: new) == 200)
      #expect(try await server.status(token, showing: old) == 401)
      #expect(try await server.status(token, showing: new) == 200)
      let client = try #require(try await server.registry.clients().first)
      #expect(client.id == PeerID(certificate: new.fingerprint))
      #expect(client.formerID == PeerID(certificate: old.fingerprint))
      #expect(client.scope == narrow && client.name == "laptop")
      let rotated = try await server.audited(.identityRotated)
      #expect(
        rotated.map(\.detail) == [
          ["peer": "laptop", "id": client.id.hex, "formerId": PeerID(certificate: old.fingerprint).hex]
        ])
    }
  }

  @Test("a new certificate that the old key has signed widens nothing by pairing again; another one is another machine")
  func rotationAndPairing() async throws {
    let (old, new) = try await makeRotated()
    let stranger = try await makeIdentity()
    let narrow = SampleFilter(types: [SampleType("HKQuantityTypeIdentifierHeartRate")])
    try await withServer { server in
      _ = try await server.pair(old, scope: narrow)
      let token = try await server.pair(new).token
      #expect(try await server.registry.clients().map(\.scope) == [narrow])
      #expect(try await server.status(token, showing: new) == 200)
      #expect(try await server.audited(.identityRotated).count == 1)
      _ = try await server.pair(stranger)
      #expect(try await server.registry.clients().map(\.scope) == [narrow, .everything])
    }
  }

  @Test("a date that no clock shows does not stop the server that is asked for it")
  func absurdScope() async throws {
    let laptop = try await makeIdentity()
    try await withServer { server in
      let scope = SampleFilter(earliest: Timestamp(microseconds: .max))
      let token = try await server.pair(laptop, scope: scope).token
      #expect(try await server.status(token, showing: laptop) == 200)
    }
  }

  @Test("what the window grants is what the machine may read; pairing again without a word does not widen it")
  func scope() async throws {
    let laptop = try await makeIdentity()
    try await withServer { server in
      let narrow = SampleFilter(
        types: [SampleType("HKQuantityTypeIdentifierHeartRate")], earliest: Timestamp(seconds: 1_000_000_000))
      _ = try await server.pair(laptop, scope: narrow)
      #expect(try await server.registry.clients().map(\.scope) == [narrow])
      _ = try await server.pair(laptop)
      #expect(try await server.registry.clients().map(\.scope) == [narrow])
      _ = try await server.pair(laptop, scope: .everything)
      #expect(try await server.registry.clients().map(\.scope) == [.everything])
    }
  }

  @Test("a crowd of wrong guesses over the network, by both ways of pairing, has exactly five of them evaluated")
  func crowd() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      let window = try await server.desk.open()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<40 { group.addTask { _ = try? await server.plainPair(window.code.wrong.digits) } }
      }
      let status = await server.desk.status()
      #expect(status.failures == 5)
      #expect(status.window == .locked)
      _ = try await eventually { try await server.audited(.pairingFailed).count == 5 ? true : nil }
      // The right code is as good as any other now.
      #expect(try await server.plainPair(window.code.digits).status == 423)
      #expect(try await server.registry.clients().isEmpty)
      #expect(try await PairingSession.open(at: server.endpoint).hello.windowLocked)
    }
  }
}
