import Foundation
import NIOCore
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

@Suite("A man in the middle")
struct ManInTheMiddleTests {
  @Test("passing everything on with another certificate makes the right code fail on both sides")
  func relay() async throws {
    let attacker = try await makeIdentity()
    try await withServer { server in
      let window = try await server.desk.open()
      try await withManInTheMiddle(attacker, to: server.port) { port in
        let session = try await PairingSession.open(at: PeerEndpoint(host: "127.0.0.1", port: port))
        // The attacker forwards what the server says, so nothing shows yet.
        #expect(session.hello.serverID == server.identity.id)
        #expect(session.fingerprint == attacker.fingerprint)
        await #expect(throws: PeerError.pairing(.wrongCode(attemptsLeft: 4))) {
          try await session.pair(code: window.code, clientID: try makePeerID(), name: "laptop")
        }
      }
      #expect(try await server.registry.clients().isEmpty)
      #expect(await server.desk.status().failures == 1)
      #expect(await server.desk.currentCode != window.code)
      let failure = try await eventually { try await server.audited(.pairingFailed).first }
      #expect(failure.detail == ["reason": "wrongCode", "attemptsLeft": "4"])
    }
  }

  @Test("posing as the server without knowing the code fails at the client's check of the proof")
  func impostor() async throws {
    // A server of the attacker's own, with a code that it made up.
    try await withServer { server in
      _ = try await server.desk.open()
      let session = try await PairingSession.open(at: server.endpoint)
      let typed = try #require(await server.desk.currentCode).wrong
      let error = await #expect(throws: PeerError.self) {
        try await session.pair(code: typed, clientID: try makePeerID(), name: "laptop")
      }
      #expect(error == .pairing(.wrongCode(attemptsLeft: 4)))
    }
  }

  @Test("a server that answers any proof with a made-up one is not believed")
  func madeUpProof() async throws {
    let attacker = try await makeIdentity()
    try await withServer { server in
      _ = try await server.desk.open()
      // Uses the real server for the messages' shapes, and makes up what it cannot know.
      try await withListener(tls: attacker) { inbound, outbound in
        try await withRawTLS(to: server.port) { fromServer, toServer in
          var answers = fromServer.makeAsyncIterator()
          for try await bytes in inbound {
            if String(buffer: bytes).hasPrefix("POST \(Route.pairFinish)") {
              let zeros = String(repeating: "0", count: 64)
              let body =
                #"{"cB":"\#(zeros)","tokenID":"0123456789abcdef","expiresAt":1999999999,"receipt":"\#(zeros)"}"#
              try await outbound.write(httpResponse(body))
            } else {
              try await toServer.write(bytes)
              guard let answer = try await answers.next() else { return }
              try await outbound.write(answer)
            }
          }
        }
      } _: { port in
        let session = try await PairingSession.open(at: PeerEndpoint(host: "127.0.0.1", port: port))
        await #expect(throws: PeerError.confirmationFailed) {
          try await session.pair(code: .random(), clientID: try makePeerID(), name: "laptop")
        }
      }
    }
  }

  @Test("a certificate that changes between the question and the code is refused before the code is used")
  func changedInBetween() async throws {
    let first = try await makeIdentity()
    let second = try await makeIdentity()
    let endpoint: PeerEndpoint = try await withServer(ServerOptions(identity: first)) { $0.endpoint }
    let session = try await withServer(ServerOptions(port: endpoint.port, identity: first)) { server in
      _ = try await server.desk.open()
      return try await PairingSession.open(at: server.endpoint)
    }
    try await withServer(ServerOptions(port: endpoint.port, identity: second)) { server in
      _ = try await server.desk.open()
      await #expect(
        throws: PeerError.certificateChanged(
          peer: TestServer.name, pinned: first.fingerprint, seen: second.fingerprint)
      ) {
        try await session.pair(code: .random(), clientID: try makePeerID(), name: "laptop")
      }
      #expect(await server.desk.status().failures == 0)
    }
  }
}
