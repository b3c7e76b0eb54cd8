import Foundation
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

@Suite("POST /api/v1/pair, for other apps")
struct PlainPairingTests {
  @Test("the right code is answered with a token that works, a device ID and nothing else to guess at")
  func success() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      let window = try await server.desk.open()
      let answer = try await server.plainPair(window.code.digits, name: "Casey\u{2019}s Mac")
      #expect(answer.status == 200)
      let data = try answer.data()
      let token = try #require((data["token"] as? String).flatMap { BearerToken(text: $0) })
      #expect(token.text.utf8.count == 43)
      let deviceID = try #require((data["deviceID"] as? String).flatMap { UUID(uuidString: $0) })
      #expect(data["deviceID"] as? String == deviceID.uuidString)
      let expiresIn = try #require(data["expiresIn"] as? Double)
      #expect(abs(expiresIn - 30 * 86_400) < 60)
      #expect(try await server.get(Route.types, token: token).status == 200)
      let client = try #require(try await server.registry.clients().first)
      #expect(client.method == .plain)
      #expect(client.name == "Casey\u{2019}s Mac")
      #expect(await server.desk.status().window == .closed)
    }
  }

  @Test("the name may be missing, empty, long or full of control characters")
  func names() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      for name in [nil, "", String(repeating: "n", count: 5_000), "a\\u0007\\u001b[31mb"] {
        let window = try await server.desk.open()
        #expect(try await server.plainPair(window.code.digits, name: name).status == 200)
      }
      let names = Set(try await server.registry.clients().map(\.name))
      #expect(names == ["unnamed", String(repeating: "n", count: 64), "a[31mb"])
    }
  }

  @Test("a wrong code is 401 in the app's words, and costs an attempt of the one budget")
  func sharedBudget() async throws {
    try await withServer { server in
      _ = try await server.desk.open()
      for _ in 0..<3 {
        let code = try #require(await server.desk.currentCode)
        let answer = try await server.plainPair(code.wrong.digits)
        #expect(answer.status == 401)
        #expect(try answer.failure() == "Invalid or expired pairing code")
      }
      let session = try await PairingSession.open(at: server.endpoint)
      let code = try #require(await server.desk.currentCode)
      await #expect(throws: PeerError.pairing(.wrongCode(attemptsLeft: 1))) {
        try await session.pair(code: code.wrong, clientID: try makePeerID(), name: "laptop")
      }
      let last = try #require(await server.desk.currentCode)
      #expect(try await server.plainPair(last.wrong.digits).status == 401)
      let locked = try await server.plainPair(last.digits)
      #expect(locked.status == 423)
      #expect(try locked.failure() == "window_locked")
      #expect(try await server.registry.clients().isEmpty)
    }
  }

  @Test(
    "what is no code counts as a wrong one", arguments: ["", "12345", "1234567", "abcdef", "12 34 56", "\u{663}23456"])
  func noCode(text: String) async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      _ = try await server.desk.open()
      #expect(try await server.plainPair(text).status == 401)
      #expect(await server.desk.status().failures == 1)
    }
  }

  @Test("a missing code is 400 and no attempt")
  func missing() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      _ = try await server.desk.open()
      let answer = try await server.request(.POST, Route.plainPair, json: #"{"deviceName":"Mac"}"#)
      #expect(answer.status == 400)
      #expect(await server.desk.status().failures == 0)
    }
  }

  @Test("no window is 401 like a wrong code, and a code serves once")
  func closed() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      #expect(try await server.plainPair("000000").status == 401)
      let window = try await server.desk.open()
      #expect(try await server.plainPair(window.code.digits).status == 200)
      #expect(try await server.plainPair(window.code.digits).status == 401)
      #expect(try await server.registry.clients().count == 1)
    }
  }
}
