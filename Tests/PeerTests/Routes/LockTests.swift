import Foundation
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

@Suite("A machine that its owner has locked", .timeLimit(.minutes(5)))
struct LockTests {
  @Test("a paired machine is told that, whatever it asks for, and is answered again afterwards")
  func everything() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(3))) { server in
      let token = try await server.token().token
      #expect(try await server.registry.lock())
      let paths = [
        Route.changes, Route.digest, Route.statistics + "?types=heartRate", Route.types, Route.data + "?type=heartRate",
        Route.pairing,
      ]
      for path in paths {
        let answer = try await server.get(path, token: token)
        #expect(answer.status == 423, "\(path)")
        #expect(try answer.failure().contains("hpeer unlock"), "\(path)")
      }
      #expect(try await server.request(.DELETE, Route.pairing, token: token).status == 423)
      // That there is a server is no secret; what it holds is.
      let status = try await server.get(Route.status, token: token)
      #expect(status.status == 200)
      #expect(String(decoding: status.body, as: UTF8.self).contains(#""availableTypes":0"#))
      let refused = try #require(try await server.audited(.tokenRefused).first)
      #expect(refused.detail["reason"] == "locked" && refused.detail["id"] != nil)
      #expect(try await server.audited(.dataRead).isEmpty)
      #expect(try await server.registry.unlock())
      #expect(try await server.get(Route.changes, token: token).status == 200)
    }
  }

  @Test("who has no right is told what they always are")
  func strangers() async throws {
    try await withServer { server in
      _ = try await server.registry.lock()
      let guessed = try await server.get(Route.changes, token: .random())
      let none = try await server.get(Route.changes)
      #expect(guessed.status == 401)
      #expect(none.status == 401)
    }
  }

  @Test("asking on and on is not taken for guessing at tokens")
  func noRateLimit() async throws {
    try await withServer { server in
      let token = try await server.token().token
      #expect(try await server.registry.lock())
      for _ in 0..<60 { #expect(try await server.get(Route.changes, token: token).status == 423) }
    }
  }

  @Test("pairing goes on")
  func pairing() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      #expect(try await server.registry.lock())
      let window = try await server.desk.open()
      let answer = try await server.plainPair(window.code.digits, name: "phone")
      let token = try #require((try answer.data()["token"] as? String).flatMap { BearerToken(text: $0) })
      #expect(try await server.get(Route.changes, token: token).status == 423)
      #expect(try await server.registry.unlock())
      #expect(try await server.get(Route.changes, token: token).status == 200)
    }
  }
}
