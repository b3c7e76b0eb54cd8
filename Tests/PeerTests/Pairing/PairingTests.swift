import Foundation
import HealthStore
import NIOConcurrencyHelpers
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

extension PairingCode {
  /// A different code.
  var wrong: PairingCode {
    guard let code = PairingCode(digits == "000000" ? "000001" : "000000") else { return self }
    return code
  }
}

@Suite("hpeer-pair/1 over the network")
struct PairingTests {
  @Test("the right code pairs: both sides hold the same token, and the window closes")
  func rightCode() async throws {
    try await withServer { server in
      let window = try await server.desk.open()
      let session = try await PairingSession.open(at: server.endpoint)
      #expect(session.hello.windowOpen)
      #expect(session.fingerprint == server.identity.fingerprint)
      #expect(session.status.deviceName == TestServer.name)
      let clientID = try makePeerID()
      let paired = try await session.pair(code: window.code, clientID: clientID, name: "laptop")
      #expect(paired.serverID == server.identity.id)
      #expect(paired.fingerprint == server.identity.fingerprint)
      #expect(try await server.get(Route.types, token: paired.token).status == 200)
      let client = try #require(try await server.registry.clients().first)
      #expect(client.id != clientID)
      #expect(client.name == "laptop")
      #expect(client.tokenHash == paired.token.hash)
      #expect(client.method == .spake2)
      #expect(await server.desk.status().window == .closed)
      #expect(try await PairingSession.open(at: server.endpoint).hello.windowOpen == false)
    }
  }

  @Test("a wrong code costs an attempt and changes the code; the new one pairs")
  func wrongCode() async throws {
    try await withServer { server in
      let window = try await server.desk.open()
      let session = try await PairingSession.open(at: server.endpoint)
      await #expect(throws: PeerError.pairing(.wrongCode(attemptsLeft: 4))) {
        try await session.pair(code: window.code.wrong, clientID: try makePeerID(), name: "laptop")
      }
      let next = try #require(await server.desk.currentCode)
      #expect(next != window.code)
      #expect(try await server.registry.clients().isEmpty)
      // The salt is new, too: the old session has only the old one.
      let again = try await PairingSession.open(at: server.endpoint)
      #expect(again.hello.salt != session.hello.salt)
      _ = try await again.pair(code: next, clientID: try makePeerID(), name: "laptop")
      #expect(try await server.registry.clients().count == 1)
    }
  }

  @Test("the fifth wrong code locks; then even the right one is refused, until someone opens the window at the server")
  func lock() async throws {
    try await withServer { server in
      _ = try await server.desk.open()
      let early = try await PairingSession.open(at: server.endpoint)
      for left in (0..<5).reversed() {
        let code = try #require(await server.desk.currentCode)
        let session = try await PairingSession.open(at: server.endpoint)
        await #expect(throws: PeerError.pairing(.wrongCode(attemptsLeft: left))) {
          try await session.pair(code: code.wrong, clientID: try makePeerID(), name: "laptop")
        }
      }
      #expect(await server.desk.status().window == .locked)
      await #expect(throws: PeerError.pairing(.windowLocked)) {
        try await early.pair(code: .random(), clientID: try makePeerID(), name: "laptop")
      }
      // A new session sees at once that there is nothing to try.
      let late = try await PairingSession.open(at: server.endpoint)
      await #expect(throws: PeerError.pairing(.windowLocked)) {
        try await late.pair(code: .random(), clientID: try makePeerID(), name: "laptop")
      }
      let window = try await server.desk.open()
      let session = try await PairingSession.open(at: server.endpoint)
      _ = try await session.pair(code: window.code, clientID: try makePeerID(), name: "laptop")
    }
  }

  @Test("a closed window refuses a session that was opened before")
  func windowClosed() async throws {
    try await withServer { server in
      let window = try await server.desk.open()
      let session = try await PairingSession.open(at: server.endpoint)
      await server.desk.close()
      await #expect(throws: PeerError.pairing(.windowClosed)) {
        try await session.pair(code: window.code, clientID: try makePeerID(), name: "laptop")
      }
    }
  }

  @Test("a payload's fingerprint is pinned before anything is sent, and pairs")
  func pinned() async throws {
    try await withServer { server in
      let window = try await server.desk.open()
      let payload = try PairingPayload(
        host: "127.0.0.1", port: UInt16(server.port), fingerprint: server.identity.fingerprint, code: window.code)
      let read = try PairingPayload.parse(payload.uri)
      let session = try await PairingSession.open(
        at: PeerEndpoint(host: read.host, port: Int(read.port)), pinned: read.fingerprint)
      let paired = try await session.pair(code: read.code, clientID: try makePeerID(), name: "laptop")
      #expect(paired.fingerprint == read.fingerprint)
    }
  }

  @Test("a server with another certificate than the payload's is told nothing, not even a request")
  func wrongPin() async throws {
    let real = try await makeIdentity()
    let other = try await makeIdentity()
    try await withCannedServer(tls: other) { _, _ in
    } _: { port, requests in
      let endpoint = PeerEndpoint(host: "127.0.0.1", port: port)
      await #expect(
        throws: PeerError.certificateChanged(
          peer: endpoint.description, pinned: real.fingerprint, seen: other.fingerprint)
      ) {
        try await PairingSession.open(at: endpoint, pinned: real.fingerprint)
      }
      #expect(requests().isEmpty)
    }
  }

  @Test("a wrong pin leaves no trace at a real server")
  func wrongPinAtServer() async throws {
    let stranger = try await makeIdentity()
    try await withServer { server in
      _ = try await server.desk.open()
      await #expect(throws: PeerError.self) {
        try await PairingSession.open(at: server.endpoint, pinned: stranger.fingerprint)
      }
      let status = await server.desk.status()
      #expect(status.failures == 0)
      #expect(status.liveSessions == 0)
      _ = try await eventually { try await server.audited(.windowOpened).first }
      #expect(try await server.store.audit.records().count == 1)
    }
  }

  @Test("a machine without a certificate is another one each time, whatever it calls itself")
  func pairTwice() async throws {
    try await withServer { server in
      let clientID = try makePeerID()
      var tokens: [BearerToken] = []
      for _ in 0..<2 {
        let window = try await server.desk.open()
        let session = try await PairingSession.open(at: server.endpoint)
        tokens.append(try await session.pair(code: window.code, clientID: clientID, name: "laptop").token)
      }
      let ids = try await server.registry.clients().map(\.id)
      #expect(Set(ids).count == 2 && !ids.contains(clientID))
      for token in tokens { #expect(try await server.get(Route.types, token: token).status == 200) }
    }
  }

  @Test("an answer that is lost is asked for again, and there is one pairing")
  func lostFinish() async throws {
    try await withServer { server in
      let window = try await server.desk.open()
      let finishes = NIOLockedValueBox(0)
      // Passes every request on, but hangs up instead of answering the first finish.
      try await withListener(tls: server.identity) { inbound, outbound in
        try await withRawTLS(to: server.port) { fromServer, toServer in
          var answers = fromServer.makeAsyncIterator()
          for try await bytes in inbound {
            try await toServer.write(bytes)
            guard let answer = try await answers.next() else { return }
            let isFinish = String(buffer: bytes).hasPrefix("POST \(Route.pairFinish)")
            if isFinish,
              finishes.withLockedValue({
                $0 += 1; return $0
              }) == 1
            {
              return
            }
            try await outbound.write(answer)
          }
        }
      } _: { port in
        let session = try await PairingSession.open(at: PeerEndpoint(host: "127.0.0.1", port: port))
        let paired = try await session.pair(code: window.code, clientID: try makePeerID(), name: "laptop")
        #expect(finishes.withLockedValue(\.self) == 2)
        #expect(try await server.get(Route.types, token: paired.token).status == 200)
        #expect(try await server.registry.clients().count == 1)
      }
    }
  }
}
