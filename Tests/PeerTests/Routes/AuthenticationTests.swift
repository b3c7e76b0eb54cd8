import Foundation
import NIOHTTP1
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

@Suite("Bearer tokens")
struct AuthenticationTests {
  private static let guarded: [(HTTPMethod, String)] = [
    (.GET, Route.types), (.GET, Route.data + "?type=heartRate"), (.GET, Route.changes), (.DELETE, Route.pairing),
    (.HEAD, Route.changes),
  ]

  @Test("without a token every guarded route is 401 with the envelope and the challenge")
  func missing() async throws {
    try await withServer { server in
      for (method, path) in Self.guarded {
        let answer = try await server.request(method, path)
        #expect(answer.status == 401, "\(method) \(path)")
        #expect(answer.headers.first(name: "WWW-Authenticate") == "Bearer")
        if method != .HEAD { #expect(try answer.failure() == "Unauthorized") }
      }
    }
  }

  @Test("what is not a valid token is 401, however it is spelled")
  func garbage() async throws {
    try await withServer { server in
      let good = try await server.token().token.text
      let stranger = BearerToken.random().text
      let bad = [
        "", "Bearer", "Bearer ", "Bearer  \(good)", "Basic \(good)", good, "Bearer \(good) ", "Bearer \(good)x",
        "Bearer \(good.dropLast())", "Bearer \(stranger)", "Bearer \(good),\(good)", "Bearer \u{e9}\u{e9}",
        "Bearer " + String(repeating: "A", count: 600), "Bearer " + String(repeating: "A", count: 16_000),
      ]
      // White space around a field's value is not part of it (RFC 9110 section 5.5).
      for text in bad where text != "Bearer \(good) " {
        let answer = try await server.request(.GET, Route.types, headers: [("Authorization", text)])
        #expect(answer.status == 401, "\(text.prefix(60))")
        #expect(try answer.failure() == "Unauthorized")
      }
      let twice = try await server.request(
        .GET, Route.types, headers: [("Authorization", "Bearer \(good)"), ("Authorization", "Bearer \(good)")])
      #expect(twice.status == 401)
    }
  }

  @Test("the scheme is read in any case, as RFC 7235 says", arguments: ["Bearer", "bearer", "BEARER"])
  func schemeCase(scheme: String) async throws {
    try await withServer { server in
      let token = try await server.token().token.text
      let answer = try await server.request(.GET, Route.types, headers: [("authorization", "\(scheme) \(token)")])
      #expect(answer.status == 200)
    }
  }

  @Test("a token that was revoked is refused at once")
  func revoked() async throws {
    try await withServer { server in
      let (id, token) = try await server.token()
      #expect(try await server.get(Route.types, token: token).status == 200)
      try await server.registry.revoke(id: id)
      #expect(try await server.get(Route.types, token: token).status == 401)
    }
  }

  @Test("a token that was revoked is refused at once, also over a connection that it has opened")
  func revokedWithinAConnection() async throws {
    try await withServer { server in
      let (id, token) = try await server.token()
      try await PeerConnection.withConnection(to: server.endpoint, trust: server.trust) { connection in
        func ask() async throws -> Int {
          let head = try await connection.send(.GET, Route.types, headers: [("Authorization", "Bearer \(token.text)")])
          _ = try await connection.body()
          return Int(head.status.code)
        }
        #expect(try await ask() == 200)
        #expect(try await ask() == 200)
        try await server.registry.revoke(id: id)
        #expect(try await ask() == 401)
      }
    }
  }

  @Test("a guess at a token is one refusal in the audit log, though two places look at it")
  func refusedOnce() async throws {
    try await withServer { server in
      let answer = try await server.get(Route.types, token: .random())
      #expect(answer.status == 401)
      #expect(try await server.audited(.tokenRefused).count == 1)
    }
  }

  @Test("an expired token is refused; one in use lives on")
  func expiry() async throws {
    try await withServer { server in
      let dead = try await server.token(expiresAt: Date() - 1)
      #expect(try await server.get(Route.types, token: dead.token).status == 401)
      let live = try await server.token(expiresAt: Date() + 60)
      #expect(try await server.get(Route.types, token: live.token).status == 200)
      let record = try #require(try await server.registry.clients().first { $0.id == live.id })
      #expect(record.expires > Date() + 29 * 86_400)
    }
  }

  @Test("DELETE /api/v2/pairing ends the caller's own pairing, and no other")
  func unpair() async throws {
    try await withServer { server in
      let mine = try await server.token(name: "mine")
      let other = try await server.token(name: "other")
      let answer = try await server.request(.DELETE, Route.pairing, token: mine.token)
      #expect(answer.status == 200)
      #expect(try answer.data().isEmpty)
      #expect(try await server.request(.DELETE, Route.pairing, token: mine.token).status == 401)
      #expect(try await server.get(Route.types, token: other.token).status == 200)
      let ended = try await server.audited(.pairingEnded)
      #expect(ended.map(\.detail) == [["peer": "mine", "id": mine.id.hex, "by": "peer"]])
    }
  }
}
