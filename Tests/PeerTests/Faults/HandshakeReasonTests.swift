import NIOCore
import PeerClient
import Testing

@Suite("Why a handshake fails, in words")
struct HandshakeReasonTests {
  @Test(
    "what listens there is described as what it is",
    arguments: [
      (Array("SSH-2.0-OpenSSH_9.2\r\n".utf8), "what it speaks is not TLS"),
      (Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), "what it speaks is not TLS"),
      // A fatal alert, protocol_version (RFC 8446 section 6).
      ([0x15, 3, 1, 0, 2, 2, 70], "its version of TLS is too old"),
      ([], "it closed the connection"),
      // A handshake record that holds no handshake.
      ([0x16, 3, 3, 0, 4, 0xFF, 0, 0, 0], "its answer made no sense, or was damaged on the way"),
    ] as [([UInt8], String)])
  func reason(answer: [UInt8], expected: String) async throws {
    try await withListener { inbound, outbound in
      // What closes with unread bytes resets the connection.
      for try await _ in inbound { break }
      try await outbound.write(ByteBuffer(bytes: answer))
    } _: { port in
      let endpoint = PeerEndpoint(host: "127.0.0.1", port: port)
      let error = await #expect(throws: PeerError.self) {
        try await PeerConnection.withConnection(to: endpoint, trust: .anyForPairing) { _ in }
      }
      #expect(error == .handshakeFailed(endpoint: endpoint.description, reason: expected))
    }
  }
}
