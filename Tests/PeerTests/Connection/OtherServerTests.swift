import Foundation
import NIOCore
import PeerClient
import Testing

@Suite("Servers that are no hpeer")
struct OtherServerTests {
  @Test(
    "what does not answer like an hpeer is said to be none",
    arguments: [
      ("404 Not Found", #"{"error":"Not Found"}"#), ("200 OK", "<html>A printer</html>"), ("200 OK", ""),
      (
        "200 OK",
        #"{"data":{"availableTypes":5,"deviceName":"iPhone","status":"running","version":"1.0"},"success":true}"#
      ),
      (
        "200 OK",
        #"{"success":true,"data":{"status":"running","version":"","deviceName":"","availableTypes":0,"protocol":"x"}}"#
      ),
    ])
  func notHpeer(status: String, body: String) async throws {
    let identity = try await makeIdentity()
    try await withCannedServer(tls: identity) { _, outbound in
      try await outbound.write(httpResponse(body, status: status))
    } _: { port, requests in
      let error = await #expect(throws: PeerError.self) {
        try await PairingSession.open(at: PeerEndpoint(host: "127.0.0.1", port: port))
      }
      guard case .notHpeer? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      // The first question settled it.
      #expect(requests().count == 1)
      #expect(requests().first?.hasPrefix("GET /status HTTP/1.1\r\n") == true)
    }
  }

  @Test(
    "a server that speaks TLS but not HTTP is said to be no hpeer",
    arguments: [
      "220 smtp.example ESMTP\r\n", "HTTP/9.9 200 OK\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "HTTP/1.1 200 OK\r\nnot a field\r\n\r\n", "<html></html>\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    ])
  func notHTTP(answer: String) async throws {
    let identity = try await makeIdentity()
    try await withCannedServer(tls: identity) { _, outbound in
      try await outbound.write(ByteBuffer(string: answer))
    } _: { port, _ in
      let error = await #expect(throws: PeerError.self) {
        try await PairingSession.open(at: PeerEndpoint(host: "127.0.0.1", port: port))
      }
      guard case .notHpeer? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }

  @Test("a port where nobody listens is unreachable, one without TLS fails the handshake")
  func unreachable() async throws {
    let port = try await withListener { _, outbound in
      try await outbound.write(ByteBuffer(string: "SSH-2.0-OpenSSH_9.2\r\n"))
    } _: { port in
      let endpoint = PeerEndpoint(host: "127.0.0.1", port: port)
      let error = await #expect(throws: PeerError.self) { try await PairingSession.open(at: endpoint) }
      guard case .handshakeFailed? = error else {
        Issue.record("\(String(describing: error))")
        return port
      }
      return port
    }
    let endpoint = PeerEndpoint(host: "127.0.0.1", port: port)
    let error = await #expect(throws: PeerError.self) { try await PairingSession.open(at: endpoint) }
    #expect(
      error == .unreachable(endpoint: endpoint.description, reason: "connection refused: nothing listens on that port"))
  }

  @Test("what a server calls itself is cut to a name")
  func name() async throws {
    let identity = try await makeIdentity()
    let name = #"\u001b[31m"# + String(repeating: "n", count: 100_000)
    try await withCannedServer(tls: identity) { request, outbound in
      let status =
        #"{"status":"running","version":"1","deviceName":"\#(name)","availableTypes":0,"protocol":"hpeer/1"}"#
      try await outbound.write(httpResponse(#"{"success":true,"data":\#(status)}"#))
    } _: { port, _ in
      let endpoint = PeerEndpoint(host: "127.0.0.1", port: port)
      let status = try await PeerConnection.withConnection(to: endpoint, trust: .anyForPairing) {
        try await $0.status()
      }
      #expect(status.deviceName == "[31m" + String(repeating: "n", count: 60))
    }
  }
}
