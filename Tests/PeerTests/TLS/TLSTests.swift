import Cryptography
import Foundation
import NIOCore
import NIOSSL
import PeerProtocol
import PeerTrust
import TestSupport
import Testing

@testable import PeerServer

private let curl = Command.find("curl")
private let openssl = Command.find("openssl")

@Suite("TLS, as the system's own clients see it")
struct TLSTests {
  @Test("curl reads /status with the certificate pinned", .enabled(if: curl != nil, "curl is not installed"))
  func curlWithPin() async throws {
    try await withServer { server in
      let certificate = try NIOSSLCertificate(bytes: server.identity.certificateDER, format: .der)
      let key = Data(SHA256.hash(data: try certificate.extractPublicKey().toSPKIBytes())).base64EncodedString()
      let url = "https://127.0.0.1:\(server.port)/status"
      let right = try await Command.run(try #require(curl), ["-sk", "--pinnedpubkey", "sha256//\(key)", url])
      #expect(right.status == 0)
      #expect(right.output.contains(#""protocol":"hpeer\/1""#))
      let wrong = try await Command.run(
        try #require(curl), ["-sk", "--pinnedpubkey", "sha256//\(Data(count: 32).base64EncodedString())", url])
      #expect(wrong.status == 90)
    }
  }

  @Test(
    "the certificate has the host's name for those who check it", .enabled(if: curl != nil, "curl is not installed"))
  func curlWithAuthority() async throws {
    try await withServer { server in
      let file = server.directory.appendingPathComponent("ca.pem")
      try Data(server.identity.certificatePEM.utf8).write(to: file)
      let result = try await Command.run(
        try #require(curl),
        [
          "-s", "--cacert", file.path, "--resolve", "localhost:\(server.port):127.0.0.1",
          "https://localhost:\(server.port)/status",
        ])
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.output.contains(#""success":true"#))
    }
  }

  @Test("curl sees the status, the headers and the bodies", .enabled(if: curl != nil, "curl is not installed"))
  func curlStatuses() async throws {
    try await withServer { server in
      let base = "https://127.0.0.1:\(server.port)"
      let curl = try #require(curl)
      func status(_ arguments: String...) async throws -> String {
        try await Command.run(
          curl, ["-sk", "-o", "/dev/null", "-w", "%{http_code} %{http_version}"] + arguments
        ).output
      }
      #expect(try await status("\(base)/status") == "200 1.1")
      #expect(try await status("-I", "\(base)/status") == "200 1.1")
      #expect(try await status("-I", "\(base)/nothing") == "404 1.1")
      #expect(try await status("--http2", "\(base)/status") == "200 1.1")
      #expect(try await status("-X", "POST", "\(base)/status") == "405 1.1")
      #expect(try await status("\(base)/health/types") == "401 1.1")
      #expect(try await status("-H", "Authorization: Bearer x", "\(base)/api/v2/changes") == "401 1.1")
      #expect(try await status("-d", "{}", "\(base)/api/v1/pair") == "400 1.1")
      // With Expect: 100-continue, as curl does for large bodies.
      let large = String(repeating: "x", count: 20_000)
      #expect(try await status("-H", "Expect: 100-continue", "-d", large, "\(base)/pair/v1/start") == "413 1.1")
    }
  }

  @Test(
    "TLS 1.2 and 1.3 are spoken, older ones refused with protocol_version",
    .enabled(if: openssl != nil, "openssl is not installed"),
    arguments: [("-tls1_3", true), ("-tls1_2", true), ("-tls1_1", false), ("-tls1", false)])
  func versions(option: String, isSpoken: Bool) async throws {
    try await withServer { server in
      let result = try await Command.run(
        try #require(openssl),
        ["s_client", "-connect", "127.0.0.1:\(server.port)", option, "-cipher", "ALL:@SECLEVEL=0"])
      if isSpoken {
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("BEGIN CERTIFICATE"))
      } else {
        #expect(result.status != 0)
        #expect((result.output + result.errors).contains("alert protocol version"), "\(result.errors)")
      }
    }
  }

  @Test("ALPN settles on HTTP/1.1", .enabled(if: openssl != nil, "openssl is not installed"))
  func applicationProtocol() async throws {
    try await withServer { server in
      let result = try await Command.run(
        try #require(openssl), ["s_client", "-connect", "127.0.0.1:\(server.port)", "-alpn", "h2,http/1.1"])
      #expect(result.output.contains("ALPN protocol: http/1.1"))
    }
  }

  @Test(
    "only a client that offers hpeer's protocol is asked for a certificate: there are apps that give up when they are",
    .enabled(if: openssl != nil, "openssl is not installed"), arguments: ["-tls1_3", "-tls1_2"])
  func certificateRequest(version: String) async throws {
    try await withServer { server in
      func messages(offering protocols: String?) async throws -> Command {
        try await Command.run(
          try #require(openssl),
          ["s_client", "-connect", "127.0.0.1:\(server.port)", version, "-msg"]
            + (protocols.map { ["-alpn", $0] } ?? []))
      }
      for protocols in [nil, "http/1.1", "h2,http/1.1", "hpeer/2"] {
        let result = try await messages(offering: protocols)
        #expect(result.status == 0 && result.output.contains("ServerHello"), "\(result.errors)")
        #expect(!result.output.contains("CertificateRequest"), "\(protocols ?? "")")
      }
      let asked = try await messages(offering: "hpeer/1,http/1.1")
      #expect(asked.status == 0 && asked.output.contains("CertificateRequest"), "\(asked.errors)")
      #expect(asked.output.contains("ALPN protocol: hpeer/1"))
    }
  }

  @Test(
    "a session of a client that is asked is not resumed as one that is not, nor the other way round",
    .enabled(if: openssl != nil, "openssl is not installed"), arguments: ["-tls1_3", "-tls1_2"])
  func tickets(version: String) async throws {
    try await withServer { server in
      func connect(_ protocols: String, _ arguments: String...) async throws -> String {
        let result = try await Command.run(
          try #require(openssl),
          ["s_client", "-connect", "127.0.0.1:\(server.port)", version, "-ign_eof", "-alpn", protocols] + arguments,
          input: "GET /status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(result.output.contains("HTTP/1.1 200"), "\(result.errors)")
        return result.output
      }
      for (own, other) in [("hpeer/1", "http/1.1"), ("http/1.1", "hpeer/1")] {
        let session = server.directory.appendingPathComponent("session.pem").path
        let first = try await connect(own, "-sess_out", session)
        #expect(first.contains("\nNew, "))
        let foreign = try await connect(other, "-sess_in", session)
        #expect(foreign.contains("\nNew, "), "a ticket of \(own)")
        // The ticket itself is good.
        let again = try await connect(own, "-sess_in", session)
        #expect(again.contains("\nReused, "), "a ticket of \(own)")
      }
    }
  }

  @Test("what is no ClientHello ends its own connection only")
  func garbage() async throws {
    let hello = ClientHelloBytes(protocols: ["hpeer/1"], padding: 17_000).message
    try await withServer { server in
      for bytes in [
        Array("GET / HTTP/1.1\r\n\r\n".utf8), ClientHelloBytes.records(hello), ClientHelloBytes.records(hello, of: 1),
      ] {
        try await withRawTCP(to: server.port) { inbound, outbound in
          // The server may have hung up before it was all sent.
          try? await outbound.write(ByteBuffer(bytes: bytes))
          do { for try await _ in inbound {} } catch is IOError {}
        }
      }
      #expect(try await server.get(Route.status).status == 200)
    }
  }
}
