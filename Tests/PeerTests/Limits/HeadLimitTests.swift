import NIOCore
import NIOSSL
import PeerProtocol
import PeerServer
import Testing

@Suite("Request heads and framing that never end, or are too much", .timeLimit(.minutes(5)))
struct HeadLimitTests {
  private static let get = "GET /status HTTP/1.1\r\nHost: a\r\n"

  @Test(
    "a head that is too big is 431, said in the API's words",
    arguments: [
      "\(get)X: \(String(repeating: "a", count: 1 << 20))\r\n\r\n",
      get + String(repeating: "X: y\r\n", count: 100_000) + "\r\n",
      "GET /status?\(String(repeating: "a", count: 1 << 20)) HTTP/1.1\r\nHost: a\r\n\r\n",
      get + String(repeating: "a", count: 1 << 20),
    ])
  func oversized(text: String) async throws {
    try await withServer { server in
      let answer = try await exchangeWhileSending(server.port, text)
      #expect(answer.hasPrefix("HTTP/1.1 431 "), "\(answer.prefix(200))")
      #expect(answer.hasSuffix(#"{"error":"Request head too large","success":false}"#))
      #expect(try await server.get(Route.status).status == 200)
    }
  }

  @Test("the largest head that the API needs is read: every type in one query")
  func allTypes() async throws {
    try await withServer { server in
      let types = Array(repeating: "HKQuantityTypeIdentifierHeartRate", count: 600).joined(separator: ",")
      let answer = try await server.get("\(Route.changes)?types=\(types)", token: server.token().token)
      #expect(answer.status == 200)
    }
  }

  @Test("a head that comes slowly is 408, however steadily it comes")
  func slowHead() async throws {
    var limits = ServingLimits()
    limits.head = .milliseconds(400)
    try await withServer(ServerOptions(serving: limits)) { server in
      let answer = try await withRawTLS(to: server.port) { inbound, outbound in
        let drip = Task {
          try await outbound.write(ByteBuffer(string: Self.get))
          while true {
            try await outbound.write(ByteBuffer(string: "X"))
            try await Task.sleep(for: .milliseconds(20))
          }
        }
        defer { drip.cancel() }
        return try await text(of: inbound)
      }
      #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
      #expect(answer.contains(#""success":false"#))
      #expect(try await server.get(Route.status).status == 200)
    }
  }

  @Test(
    "framing without end is cut off",
    arguments: [
      // Chunk extensions.
      ("POST /api/v1/pair HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;x=", "a"),
      // Trailers.
      ("POST /api/v1/pair HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n"),
      // A body that nobody asked for.
      (get + "Transfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n"),
      (get + "Content-Length: 99999999999\r\n\r\n", "a"),
      // Empty lines before a request.
      ("", "\r\n"),
    ])
  func endless(start: String, more: String) async throws {
    try await withServer { server in
      let piece = ByteBuffer(string: String(repeating: more, count: max(1, 4096 / more.utf8.count)))
      await #expect(throws: (any Error).self) {
        try await withRawTLS(to: server.port) { _, outbound in
          try await outbound.write(ByteBuffer(string: start))
          // Ends when the server hangs up, and in no other way.
          while true { try await outbound.write(piece) }
        }
      }
      let status = try await server.get(Route.status).status
      #expect(status == 200)
    }
  }

  @Test("requests in a row are answered in a row, up to a number")
  func pipelining() async throws {
    var limits = ServingLimits()
    limits.pipelinedRequests = 8
    try await withServer(ServerOptions(serving: limits)) { server in
      let request = "GET /pair/v1/hello HTTP/1.1\r\nHost: a\r\n\r\n"
      let last = "GET /pair/v1/hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
      let few = try await rawExchange(server.port, String(repeating: request, count: 7) + last)
      #expect(few.components(separatedBy: "HTTP/1.1 200 OK").count == 9)
      // The server ends this by itself.
      let many = try await rawExchange(server.port, String(repeating: request, count: 3_000))
      #expect(many.components(separatedBy: "HTTP/1.1 200 OK").count == 9)
      #expect(try await server.get(Route.status).status == 200)
    }
  }

  @Test(
    "a request that does not say once which host it is for is refused, and no other follows it (RFC 9112 section 3.2)",
    arguments: [
      ("", 400), ("Host: a\r\nHost: a\r\n", 400), ("Host: a\r\nhost: b\r\n", 400), ("Host: a, b\r\n", 400),
      ("Host: a/b\r\n", 400), ("Host: user@a\r\n", 400), ("Host: a b\r\n", 400), ("Host:\r\n", 200),
      ("host: studio.local:8737\r\n", 200), ("Host: [fe80::1]:8737\r\n", 200), ("Host: 192.0.2.1\r\n", 200),
    ])
  func host(fields: String, status: Int) async throws {
    try await withServer { server in
      let next = "GET /status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
      for path in [Route.status, Route.types, "/nothing"] {
        let expected = status == 400 ? 400 : [Route.status: 200, Route.types: 401][path] ?? 404
        let answer = try await rawExchange(server.port, "GET \(path) HTTP/1.1\r\n\(fields)\r\n" + next)
        #expect(answer.hasPrefix("HTTP/1.1 \(expected) "), "\(path): \(answer.prefix(100))")
        #expect(answer.components(separatedBy: "HTTP/1.1 ").count == (status == 400 ? 2 : 3))
      }
      let old = try await rawExchange(server.port, "GET /status HTTP/1.0\r\n\(fields)\r\n")
      #expect(old.contains(fields.isEmpty ? " 200 " : " \(status) "), "\(old.prefix(100))")
    }
  }

  @Test("HTTP/1.0 has its answer as HTTP/1.0 knows it: without chunks, and the connection ends")
  func oldVersion() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(10))) { server in
      let status = try await rawExchange(server.port, "GET /status HTTP/1.0\r\n\r\n")
      #expect(status.hasPrefix("HTTP/1.0 200 OK\r\n"), "\(status)")
      #expect(status.contains("Connection: close\r\n"))
      let token = try await server.token().token
      let changes = try await rawExchange(
        server.port,
        "GET \(Route.changes) HTTP/1.0\r\nAccept: application/x-ndjson\r\nAuthorization: Bearer \(token.text)\r\n\r\n")
      #expect(!changes.lowercased().contains("transfer-encoding"))
      #expect(changes.contains("\r\n\r\n{\"added\""), "\(changes.prefix(400))")
      #expect(changes.components(separatedBy: "\n{\"added\"").count == 10)
    }
  }

  /// Returns the server's answer to a client that is still sending.
  private func exchangeWhileSending(_ port: Int, _ text: String) async throws -> String {
    try await withRawTLS(to: port) { inbound, outbound in
      let sending = Task { try await outbound.write(ByteBuffer(string: text)) }
      let answer = try await self.text(of: inbound)
      sending.cancel()
      return answer
    }
  }

  private func text(of inbound: ByteInbound) async throws -> String {
    var answer = ""
    do {
      for try await bytes in inbound { answer += String(buffer: bytes) }
    } catch is NIOSSLError {
      // A reset counts as hanging up.
    } catch is IOError {}
    return answer
  }
}
