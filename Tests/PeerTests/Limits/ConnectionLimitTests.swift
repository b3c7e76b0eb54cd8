import HealthModel
import NIOCore
import NIOPosix
import NIOSSL
import PeerClient
import PeerProtocol
import PeerServer
import Testing

@Suite("Crowds of connections", .timeLimit(.minutes(5)))
struct ConnectionLimitTests {
  /// Runs `body` with connections that stay open until its end.
  private func withCrowd(
    _ count: Int, to port: Int, tls: Bool, _ body: ([any Channel]) async throws -> Void
  ) async throws {
    var channels: [any Channel] = []
    for _ in 0..<count { channels.append(try await connectRaw(to: port, tls: tls)) }
    let result: Swift.Result<Void, any Error>
    do { result = .success(try await body(channels)) } catch { result = .failure(error) }
    for channel in channels { channel.close(promise: nil) }
    try result.get()
  }

  @Test("more idle connections than there may be lock nobody out", arguments: [true, false])
  func idleCrowd(tls: Bool) async throws {
    var limits = ServingLimits()
    limits.connectionsPerAddress = 10
    try await withServer(ServerOptions(samples: Samples.heartRates(5), serving: limits)) { server in
      let token = try await server.token().token
      try await withCrowd(40, to: server.port, tls: tls) { crowd in
        #expect(try await server.get(Route.status).status == 200)
        #expect(try await server.get(Route.changes, token: token).status == 200)
        // The oldest made room.
        try await crowd[0].closeFuture.get()
        #expect(crowd[39].isActive)
      }
    }
  }

  @Test("a paired client's connection outlives the crowd")
  func pairedSurvives() async throws {
    var limits = ServingLimits()
    limits.connectionsPerAddress = 5
    try await withServer(ServerOptions(serving: limits)) { server in
      let token = try await server.token().token
      let headers = [("Authorization", "Bearer \(token.text)")]
      try await PeerConnection.withConnection(to: server.endpoint, trust: server.trust) { connection in
        #expect(try await connection.send(.GET, Route.types, headers: headers).status.code == 200)
        _ = try await connection.body(limit: 1 << 20)
        try await withCrowd(20, to: server.port, tls: true) { _ in
          #expect(try await connection.send(.GET, Route.types, headers: headers).status.code == 200)
          _ = try await connection.body(limit: 1 << 20)
        }
      }
    }
  }

  @Test("as many pulls as there may be, all at work: the next is told 503")
  func pairedFull() async throws {
    var limits = ServingLimits()
    limits.pairedConnections = 1
    try await withServer(ServerOptions(samples: Samples.bulky(9_000), serving: limits)) { server in
      let token = try await server.token().token
      let pull =
        "GET \(Route.changes) HTTP/1.1\r\nHost: a\r\nAccept: \(ChangeFeedFormat.lines.rawValue)\r\nAuthorization: Bearer \(token.text)\r\n\r\n"
      let stalled = try await connectRaw(to: server.port, tls: true, unread: pull)
      defer { stalled.close(promise: nil) }
      // Only then has it taken its place.
      _ = try await eventually { try await server.audited(.readStarted).first }
      let refused = try await eventually { () -> Answer? in
        let answer = try await server.get(Route.types, token: token)
        return answer.status == 503 ? answer : nil
      }
      #expect(refused.headers.first(name: "Retry-After") == "5")
      #expect(try await server.get(Route.status).status == 200)
    }
  }

  @Test("a client that stops reading costs a bounded buffer and time, and its pull goes down as incomplete")
  func stalledClient() async throws {
    var limits = ServingLimits()
    limits.stalledClient = .seconds(4)
    try await withServer(ServerOptions(samples: Samples.bulky(9_000), serving: limits)) { server in
      let token = try await server.token().token
      let pull =
        "GET \(Route.changes) HTTP/1.1\r\nHost: a\r\nAccept: \(ChangeFeedFormat.lines.rawValue)\r\nAuthorization: Bearer \(token.text)\r\n\r\n"
      let stalled = try await connectRaw(to: server.port, tls: true, unread: pull)
      defer { stalled.close(promise: nil) }
      #expect(try await server.get(Route.changes, token: token).lines().count > 9_000)
      let events = try await eventually {
        let events = try await server.audited(.dataRead)
        return events.count == 2 ? events : nil
      }
      #expect(events.contains { $0.detail["complete"] == "false" })
    }
  }

  @Test("neither idle connections nor clients that read nothing hold up a shutdown")
  func shutdown() async throws {
    // A shutdown that waits for them takes longer than the test may.
    let options = ServerOptions(samples: Samples.bulky(9_000), gracefulLimit: .seconds(3600))
    var open: [any Channel] = []
    open = try await withServer(options) { server in
      let token = try await server.token().token
      let pull =
        "GET \(Route.changes) HTTP/1.1\r\nHost: a\r\nAccept: \(ChangeFeedFormat.lines.rawValue)\r\nAuthorization: Bearer \(token.text)\r\n\r\n"
      let body = "POST \(Route.plainPair) HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"
      return [
        try await connectRaw(to: server.port, tls: true, unread: pull),
        try await connectRaw(to: server.port, tls: true, unread: body),
        try await connectRaw(to: server.port, tls: true, unread: "GET /status HT"),
        try await connectRaw(to: server.port, tls: true, unread: ""),
        try await connectRaw(to: server.port, tls: false),
      ]
    }
    for channel in open { channel.close(promise: nil) }
  }

  @Test("connections that come while a server stops stop neither it nor the process")
  func stormAtShutdown() async throws {
    for _ in 0..<10 {
      let storm = try await withServer { server in
        let port = server.port
        let storm = Task {
          while !Task.isCancelled {
            guard let channel = try? await connectRaw(to: port, tls: false) else { return }
            channel.close(promise: nil)
          }
        }
        let status = try await server.get(Route.status).status
        #expect(status == 200)
        return storm
      }
      storm.cancel()
      await storm.value
    }
  }
}
