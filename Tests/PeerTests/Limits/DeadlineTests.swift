import NIOCore
import NIOSSL
import PeerProtocol
import PeerServer
import Testing

/// Tests that wait for the server to close a connection, which it would otherwise not do for 15 seconds or more.
@Suite("Connections that keep a server waiting", .timeLimit(.minutes(5)))
struct DeadlineTests {
  private static let long = Duration.seconds(3600)

  /// Returns limits in which only the deadline under test is short.
  private static func limits(_ change: (inout ServingLimits) -> Void) -> ServingLimits {
    var limits = ServingLimits()
    limits.clientHello = long
    limits.handshake = long
    limits.firstRequest = long
    limits.head = long
    limits.idle = long
    change(&limits)
    return limits
  }

  @Test("TCP without a TLS handshake, or with one that never ends", arguments: [[], [0x16, 0x03, 0x01, 0x02, 0x00]])
  func handshake(bytes: [UInt8]) async throws {
    let limits = Self.limits { $0.handshake = .seconds(2) }
    try await withServer(ServerOptions(serving: limits)) { server in
      try await withRawTCP(to: server.port) { inbound, outbound in
        if !bytes.isEmpty { try await outbound.write(ByteBuffer(bytes: bytes)) }
        for try await _ in inbound {}
      }
      #expect(try await server.get(Route.status).status == 200)
    }
  }

  @Test("TLS without a request")
  func firstRequest() async throws {
    let limits = Self.limits { $0.firstRequest = .seconds(2) }
    try await withServer(ServerOptions(serving: limits)) { server in
      let answer = try await rawExchange(server.port, "")
      #expect(answer == "")
      #expect(try await server.get(Route.status).status == 200)
    }
  }

  @Test("a request, and then nothing")
  func idle() async throws {
    let limits = Self.limits { $0.idle = .milliseconds(300) }
    try await withServer(ServerOptions(serving: limits)) { server in
      let answer = try await rawExchange(server.port, "GET /status HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test("a body that is never read and never comes")
  func unreadBody() async throws {
    var limits = Self.limits { $0.body = .seconds(2) }
    limits.linger = .milliseconds(100)
    try await withServer(ServerOptions(serving: limits)) { server in
      let answer = try await rawExchange(
        server.port, "GET /status HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test("an open connection that asks in time is kept")
  func kept() async throws {
    let limits = Self.limits { $0.idle = .seconds(20) }
    try await withServer(ServerOptions(serving: limits)) { server in
      try await withRawTLS(to: server.port) { inbound, outbound in
        var answers = inbound.makeAsyncIterator()
        for _ in 0..<20 {
          try await outbound.write(ByteBuffer(string: "GET /pair/v1/hello HTTP/1.1\r\nHost: a\r\n\r\n"))
          let answer = try #require(try await answers.next())
          #expect(String(buffer: answer).hasPrefix("HTTP/1.1 200 "))
        }
      }
    }
  }
}
