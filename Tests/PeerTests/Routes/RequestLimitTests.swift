import Foundation
import NIOCore
import NIOHTTP1
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

@Suite("Requests that are too big, too slow, broken or no requests at all")
struct RequestLimitTests {
  private static let posts = [Route.pairStart, Route.pairFinish, Route.plainPair]

  @Test("a body of more than 16 KiB is 413", arguments: posts)
  func oversized(path: String) async throws {
    try await withServer { server in
      let body = #"{"code":""# + String(repeating: "1", count: 17 * 1024) + #""}"#
      let answer = try await server.request(.POST, path, json: body)
      #expect(answer.status == 413)
      #expect(try answer.failure() == "Request body too large")
    }
  }

  @Test("the limit of a body is the configured one", arguments: posts)
  func configuredLimit(path: String) async throws {
    var limits = ServingLimits()
    limits.bodyBytes = 100
    try await withServer(ServerOptions(serving: limits, derivesKeys: false)) { server in
      _ = try await server.desk.open()
      let atLimit = #"{"padding":""# + String(repeating: "1", count: 86) + #""}"#
      #expect(atLimit.utf8.count == 100)
      #expect(try await server.request(.POST, path, json: atLimit).status == 400)
      #expect(try await server.request(.POST, path, json: atLimit + " ").status == 413)
    }
  }

  @Test("a body that declares no length is measured all the same")
  func oversizedChunks() async throws {
    try await withServer { server in
      let chunk = String(repeating: "1", count: 4096)
      let text =
        "POST /api/v1/pair HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        + String(repeating: "1000\r\n\(chunk)\r\n", count: 5) + "0\r\n\r\n"
      let answer = try await rawExchange(server.port, text)
      #expect(answer.hasPrefix("HTTP/1.1 413 "))
    }
  }

  @Test(
    "a body that is not the message is 400", arguments: ["", "{", "[]", "null", "{}", "\u{0}", "{\"code\":123456}"])
  func malformed(body: String) async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      _ = try await server.desk.open()
      for path in [Route.pairStart, Route.pairFinish] {
        let answer = try await server.request(.POST, path, json: body)
        #expect(answer.status == 400)
        #expect(try answer.failure() == "malformed")
      }
      let plain = try await server.request(.POST, Route.plainPair, json: body)
      #expect(plain.status == 400)
      #expect(try plain.failure() == "Missing or invalid pairing code in request body")
      // None of them was an attempt.
      #expect(await server.desk.status().failures == 0)
    }
  }

  @Test("a body that does not arrive in time is 408 and the connection ends")
  func slowBody() async throws {
    var limits = ServingLimits()
    limits.body = .milliseconds(200)
    try await withServer(ServerOptions(serving: limits)) { server in
      let answer = try await rawExchange(
        server.port, "POST /api/v1/pair HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{\"code\":")
      #expect(answer.hasPrefix("HTTP/1.1 408 "))
      #expect(answer.contains(#""success":false"#))
    }
  }

  @Test("a caller that hangs up in the middle of its body disturbs nobody")
  func hangUpInBody() async throws {
    try await withServer { server in
      try await withRawTLS(to: server.port) { _, outbound in
        try await outbound.write(
          ByteBuffer(string: "POST /pair/v1/start HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"))
      }
      #expect(try await server.get(Route.status).status == 200)
    }
  }

  @Test("connections that say nothing, or bytes that are no TLS, disturb nobody")
  func probes() async throws {
    try await withServer { server in
      for _ in 0..<20 { try await withRawTCP(to: server.port) { _, _ in } }
      for _ in 0..<5 { try await withRawTLS(to: server.port) { _, _ in } }
      try await withRawTCP(to: server.port) { _, outbound in
        try await outbound.write(ByteBuffer(string: "GET /status HTTP/1.1\r\nHost: a\r\n\r\n"))
      }
      #expect(try await server.get(Route.status).status == 200)
      #expect(try await server.store.audit.records().isEmpty)
    }
  }

  @Test(
    "what is not HTTP gets 400 and the door",
    arguments: [
      "\u{16}\u{3}\u{1}\r\n\r\n", "GET\r\n\r\n", "GET /status HTTP/9.9\r\n\r\n", "\r\n\r\n\r\nhello\r\n",
      "GET /status HTTP/1.1\r\nHost: a\r\nBad Header\r\n\r\n",
      "POST /api/v1/pair HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
      "POST /api/v1/pair HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n",
    ])
  func garbage(text: String) async throws {
    try await withServer { server in
      let answer = try await rawExchange(server.port, text)
      #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400 ") || answer.hasPrefix("HTTP/1.1 505 "), "\(answer)")
      #expect(try await server.get(Route.status).status == 200)
    }
  }

  @Test("HEAD has the head of GET and no body, whatever the answer, so that the next answer is read right")
  func head() async throws {
    try await withServer { server in
      let token = try await server.token().token
      let paths = [
        (Route.status, 200), ("/nothing", 404), (Route.types, 401), (Route.openAPI, 200), (Route.plainPair, 405),
      ]
      let text =
        paths.map { "HEAD \($0.0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
        + "HEAD \(Route.changes) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token.text)\r\n\r\n"
        + "GET \(Route.pairHello) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
      let answer = try await rawExchange(server.port, text)
      let parts = answer.components(separatedBy: "\r\n\r\n")
      // Seven heads, each followed by the next at once, then one body.
      #expect(parts.count == 8)
      #expect(parts.prefix(7).allSatisfy { $0.hasPrefix("HTTP/1.1 ") })
      for (part, path) in zip(parts, paths) { #expect(part.hasPrefix("HTTP/1.1 \(path.1) "), "\(path.0)") }
      #expect(parts.last?.hasPrefix("{") == true)
      // Nothing was read, so nothing is logged as read.
      #expect(try await server.audited(.dataRead).isEmpty)
    }
  }

  @Test("Connection: close is obeyed")
  func connectionClose() async throws {
    try await withServer { server in
      let answer = try await rawExchange(
        server.port, "GET /status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /status HTTP/1.1\r\n\r\n")
      #expect(answer.components(separatedBy: "HTTP/1.1 200 OK").count == 2)
    }
  }

  @Test("a port that is taken is named")
  func portTaken() async throws {
    try await withServer { server in
      let expected = PeerServerError.portTaken(server.port, of: .server)
      await #expect(throws: expected) {
        try await withServer(ServerOptions(port: server.port)) { _ in () }
      }
    }
  }
}
