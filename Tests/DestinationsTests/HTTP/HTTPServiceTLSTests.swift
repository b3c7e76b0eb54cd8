import Foundation
import TestSupport
import Testing

@testable import Destinations

/// Tests with OpenSSL servers that have valid and invalid certificates.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HTTPServiceTLSTests {
  private static let openssl = "/usr/bin/openssl"
  private let folder: TemporaryDirectory

  init() throws {
    folder = try TemporaryDirectory(inMemory: true)
    try run(["req", "-x509", "-subj", "/CN=authority", "-days", "2", "-keyout", "ca.key", "-out", "ca.pem"] + Self.key)
  }

  private static let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

  private func run(_ arguments: [String]) throws {
    let result = try output(of: Self.openssl, arguments, in: folder.path)
    guard result.status == 0 else { throw ServerProcess.Failure(description: result.text) }
  }

  private func server(names: String, days: Int = 2, _ options: [String] = []) throws -> ServerProcess {
    try run(["req", "-subj", "/CN=x", "-keyout", "leaf.key", "-out", "leaf.csr"] + Self.key)
    try Data("subjectAltName=\(names)\nbasicConstraints=critical,CA:FALSE\n".utf8)
      .write(to: URL(filePath: folder.path("extensions")))
    try run([
      "x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "\(days)", "-extfile",
      "extensions", "-out", "leaf.pem",
    ])
    return try ServerProcess(
      Self.openssl, ["s_server", "-accept", "127.0.0.1:0", "-cert", "leaf.pem", "-key", "leaf.key", "-www"] + options,
      in: folder.path, until: "ACCEPT 127.0.0.1:")
  }

  private func ask(_ url: String, ca: Bool = true) async throws -> Int {
    let service = try HTTPServiceTests.service(url, ca ? ["ca": .text(folder.path("ca.pem"))] : [:])
    do {
      let status = try await service.send(HTTPService.Request("GET", url)).status
      await service.close()
      return status
    } catch {
      await service.close()
      throw error
    }
  }

  private func failure(_ url: String, ca: Bool = true) async throws -> String? {
    let error = await #expect(throws: DeliveryError.self) { try await ask(url, ca: ca) }
    return error.map { "\($0)" }
  }

  @Test("a server whose authority is named is trusted, by its name and by its address; others are not")
  func trust() async throws {
    let server = try server(names: "DNS:localhost,IP:127.0.0.1")
    #expect(try await ask("https://localhost:\(server.port)/") == 200)
    #expect(try await ask("https://127.0.0.1:\(server.port)/") == 200)
    #expect(
      try await failure("https://localhost:\(server.port)/", ca: false)
        == "the certificate of localhost is not trusted: set ca to the authority that has signed it")
    #expect(try await failure("http://127.0.0.1:\(server.port)/").map { $0.hasPrefix("127.0.0.1 ") } == true)
  }

  @Test("a certificate for another name is no certificate for this one")
  func name() async throws {
    let server = try server(names: "DNS:elsewhere.example")
    for host in ["localhost", "127.0.0.1"] {
      #expect(
        try await failure("https://\(host):\(server.port)/")
          == "the certificate of \(host) is for another name: put that name into url, or renew it")
    }
  }

  @Test("of one that is over it is said since when")
  func expired() async throws {
    let server = try server(names: "DNS:localhost", days: -1)
    let said = try await failure("https://localhost:\(server.port)/")
    #expect(
      try said?.wholeMatch(of: Regex("the certificate of localhost expired on \\d{4}-\\d\\d-\\d\\d: renew it")) != nil)
  }

  @Test("a server that speaks no TLS, or none that is new enough")
  func handshake() async throws {
    let greeting = try RawGreeting("HTTP/1.1 400 Bad Request\r\n\r\n")
    #expect(
      try await failure("https://127.0.0.1:\(greeting.port)/")
        == "127.0.0.1 speaks no TLS on this port: is it http://?")
    let old = try server(names: "DNS:localhost", ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
    #expect(try await failure("https://localhost:\(old.port)/") == "the TLS handshake with localhost failed")
  }

  @Test("an authority below ~ is found, for a WebSocket too")
  func authorityAtHome() async throws {
    let server = try server(names: "DNS:localhost")
    // As many steps up as lead to the root from wherever this user's home is.
    let path = "~" + String(repeating: "/..", count: 32) + folder.path("ca.pem")
    let url = "https://localhost:\(server.port)/"
    let service = try HTTPServiceTests.service(url, ["ca": .text(path)])
    #expect(try await service.send(HTTPService.Request("GET", url)).status == 200)
    await service.close()
    let fixture = try RecordFixture()
    let place = try HomeAssistantDestination(
      DestinationSettings(
        ["url": .text(url), "token": .text("env:TOKEN"), "ca": .text(path), "states": .boolean(false)],
        of: HomeAssistantDestination.self), in: fixture.environment(["TOKEN": "t"]))
    // It is trusted, and is no Home Assistant.
    await #expect(
      throws: DeliveryError.unusable(reason: "localhost speaks no WebSocket at /api/websocket: is url right?")
    ) { try await place.check() }
    await place.close()
  }

  @Test("a file without certificates is no authority")
  func authority() throws {
    try Data("nothing".utf8).write(to: URL(filePath: folder.path("empty.pem")))
    for name in ["empty.pem", "missing.pem"] {
      let error = #expect(throws: SettingsError.self) {
        try HTTPServiceTests.service("https://localhost/", ["ca": .text(folder.path(name))])
      }
      #expect(error?.key == "ca")
    }
  }
}

/// A server that sends the same text to every client and ignores what clients send.
private final class RawGreeting: Sendable {
  let port: Int
  private let listener: ListeningSocket

  init(_ text: String) throws {
    listener = try ListeningSocket()
    port = listener.port
    Thread.detachNewThread { [listener] in
      while let socket = listener.accept() {
        _ = TCPSocket.write(Array(text.utf8)[...], to: socket)
        while TCPSocket.read(socket) != nil {}
        close(socket)
      }
    }
  }

  deinit { listener.close() }
}
