import Foundation
import TestSupport
import Testing

@testable import Destinations

/// Tests of the HTTP client of all destinations with servers that misbehave.
@Suite(.timeLimit(.minutes(5))) struct HTTPServiceTests {
  static let description = DestinationDescription(
    DestinationKind("http"), "Speaks HTTP.", repetition: .atLeastOnce,
    fields: [SettingField("url", .url(schemes: ["https", "http"]), "Where.", required: true)] + HTTPService.fields)

  static func service(
    _ url: String, _ values: [String: DestinationSettings.Value] = [:], timeout: Duration = .seconds(20)
  ) throws -> HTTPService {
    let settings = try DestinationSettings(
      name: "test", values.merging(["url": .text(url)]) { first, _ in first }, of: description)
    return try HTTPService(settings, url: try settings.url("url"), timeout: timeout)
  }

  /// Returns the response to a request that has a secret in each of its parts.
  private func ask(
    _ url: String, _ values: [String: DestinationSettings.Value] = [:], timeout: Duration = .seconds(20)
  ) async throws -> HTTPService.Response {
    let service = try Self.service(url, values, timeout: timeout)
    let request = HTTPService.Request(
      "POST", url + "s3cret?key=s3cret", headers: [HTTPHeaderText.bearer("s3cret")], body: Array("s3cret".utf8))
    do {
      let response = try await service.send(request)
      await service.close()
      return response
    } catch {
      await service.close()
      #expect(!"\(error)".contains("s3cret") && !String(reflecting: error).contains("s3cret"))
      throw error
    }
  }

  private func failure(
    _ url: String, _ values: [String: DestinationSettings.Value] = [:], timeout: Duration = .seconds(20)
  ) async throws -> DeliveryError? {
    await #expect(throws: DeliveryError.self) { try await ask(url, values, timeout: timeout) }
  }

  private func failure(
    timeout: Duration = .seconds(20), _ behaviour: @escaping RawEndpoint.Behaviour
  ) async throws -> DeliveryError? {
    let endpoint = try RawEndpoint(behaviour)
    return try await failure(endpoint.url, timeout: timeout)
  }

  private func temporary(_ reason: String) -> DeliveryError { .temporary(reason: "127.0.0.1 " + reason) }

  // MARK: Answers

  @Test("an answer comes with its headers and its body, and what was sent came there")
  func good() async throws {
    let endpoint = try RawEndpoint { $0.answer(201, ["ETag": "\"a\""], "made") }
    let response = try await ask(endpoint.url)
    #expect(response.status == 201 && response.header("etag") == "\"a\"" && response.body == Array("made".utf8))
    let request = try #require(endpoint.requests.first)
    #expect(request.method == "POST" && request.target == "/s3cret?key=s3cret" && request.body == Array("s3cret".utf8))
    #expect(request.headers["authorization"] == "Bearer s3cret" && request.headers["user-agent"] == "hpeer")
  }

  @Test("an answer that is to be a file is one, of any length up to its limit; a refusal is none")
  func toAFile() async throws {
    let folder = try TemporaryDirectory()
    let body = String(repeating: "0123456789abcdef", count: 200_000)
    let endpoint = try RawEndpoint { exchange in
      exchange.request.target == "/refused" ? exchange.answer(404, [:], "no") : exchange.answer(200, [:], body)
    }
    let service = try Self.service(endpoint.url, [:], timeout: .seconds(20))
    func fetch(_ name: String, limit: Int) async throws -> Int {
      var request = HTTPService.Request("GET", endpoint.url + name)
      (request.file, request.longestAnswer) = (folder.path(name), limit)
      let response = try await service.answer(to: request)
      #expect(response.status == 200 ? response.body.isEmpty : response.body == Array("no".utf8))
      return response.status
    }
    #expect(try await fetch("whole", limit: body.utf8.count) == 200)
    #expect(try String(contentsOfFile: folder.path("whole"), encoding: .utf8) == body)
    #expect(try await fetch("refused", limit: 1_000) == 404)
    #expect(!FileManager.default.fileExists(atPath: folder.path("refused")))
    await #expect(throws: temporary("answers with more than is read")) {
      try await fetch("long", limit: body.utf8.count - 1)
    }
    await service.close()
  }

  @Test("what a server says before its answer is passed over")
  func interim() async throws {
    let endpoint = try RawEndpoint { exchange in
      exchange.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
      return exchange.answer(200, [:], "yes")
    }
    #expect(try await ask(endpoint.url).body == Array("yes".utf8))
  }

  @Test("a server that says without end that it will answer is left at once")
  func interimWithoutEnd() async throws {
    let error = try await failure { exchange in
      while exchange.write("HTTP/1.1 100 Continue\r\n\r\n") {}
      return .close
    }
    #expect(error == temporary("answers something that is no HTTP"))
  }

  @Test(
    "a busy server says when to come again, and is believed",
    arguments: [
      (429, "120", 120), (503, "Fri, 31 Dec 9999 23:59:59 GMT", 366 * 86_400), (503, "never", nil), (408, "", nil),
    ])
  func busy(_ status: Int, _ text: String, _ seconds: Int?) async throws {
    let error = try await failure { $0.answer(status, ["Retry-After": text]) }
    #expect(
      error == .temporary(reason: "it answers \(status)", retryAfter: seconds.map { .seconds($0) }))
  }

  @Test("wrong credentials are for a person to mend", arguments: [401, 403])
  func credentials(_ status: Int) async throws {
    guard case .unusable = try await failure({ $0.answer(status) }) else {
      Issue.record("not unusable")
      return
    }
  }

  @Test("nothing is sent where a server sends on to", arguments: [301, 302, 303, 307, 308])
  func redirection(_ status: Int) async throws {
    let elsewhere = try RawEndpoint { $0.answer(200) }
    let endpoint = try RawEndpoint { $0.answer(status, ["Location": elsewhere.url + "t0ken"]) }
    let response = try await ask(endpoint.url)
    #expect(elsewhere.requests.isEmpty)
    #expect(
      HTTPService.misplaced(response)
        == .unusable(
          reason: "it answers \(status), and sends on to http://127.0.0.1, which is not followed: put the new address "
            + "into url"))
  }

  // MARK: Servers that are none

  @Test("one that never answers is left when its time is over")
  func silence() async throws {
    #expect(try await failure(timeout: .milliseconds(300)) { _ in .hold } == temporary("did not answer in time"))
  }

  @Test("one that drips is left when its time is over, though something comes all the time")
  func drip() async throws {
    let error = try await failure(timeout: .milliseconds(300)) { exchange in
      exchange.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
      while exchange.write("x") { usleep(10_000) }
      return .close
    }
    #expect(error == temporary("did not answer in time"))
  }

  @Test("of an answer without an end no more than the bound is read")
  func endlessBody() async throws {
    let error = try await failure { exchange in
      exchange.write("HTTP/1.1 200 OK\r\n\r\n")
      let block = [UInt8](repeating: 0x78, count: 1 << 20)
      while exchange.write(block) {}
      return .close
    }
    #expect(error == temporary("answers with more than is read"))
  }

  @Test("a refusal without an end is a refusal")
  func endlessRefusal() async throws {
    let error = try await failure { exchange in
      exchange.write("HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 4000000000\r\n\r\n")
      let block = [UInt8](repeating: 0x78, count: 1 << 20)
      while exchange.write(block) {}
      return .close
    }
    #expect(error == .temporary(reason: "it answers 503", retryAfter: .seconds(7)))
  }

  @Test("headers without an end are cut off", arguments: ["X-Long: ", "X: y\r\n"])
  func endlessHeaders(_ piece: String) async throws {
    let error = try await failure { exchange in
      exchange.write("HTTP/1.1 200 OK\r\n")
      exchange.write(piece)
      let block = Array(String(repeating: piece, count: 4_096).utf8)
      while exchange.write(block) {}
      return .close
    }
    #expect(error == temporary("answers something that is no HTTP"))
  }

  @Test("a chunk that is longer than all numbers is no HTTP")
  func hugeChunk() async throws {
    let error = try await failure { exchange in
      exchange.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\nx")
      return .hold
    }
    #expect(error == temporary("answers something that is no HTTP"))
  }

  @Test(
    "one that closes at once, within its headers or within its body has not answered",
    arguments: [
      "", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfou",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfou",
    ]) func early(_ text: String) async throws
  {
    for halfCloses in [false, true] {
      let error = try await failure(timeout: .seconds(5)) { exchange in
        exchange.write(text)
        guard halfCloses else { return .close }
        exchange.endWriting()
        return .hold
      }
      guard case .temporary(let reason, nil) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(reason.hasPrefix("127.0.0.1 "))
    }
  }

  @Test(
    "what comes after the length of an answer is not taken for another",
    arguments: [
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"
    ]) func surplus(_ text: String) async throws
  {
    let endpoint = try RawEndpoint { exchange in
      exchange.write(text)
      return .again
    }
    let service = try Self.service(endpoint.url)
    for _ in 0..<4 {
      do {
        let response = try await service.send(HTTPService.Request("GET", endpoint.url))
        #expect(response.status == 200 && response.body == Array("ok".utf8))
      } catch let error as DeliveryError {
        // The connection with the surplus is given up, perhaps after it was chosen again.
        guard case .temporary(let reason, nil) = error else { throw error }
        #expect(!reason.contains("500"))
      }
    }
    await service.close()
  }

  @Test(
    "a server that speaks something else is named",
    arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "\u{15}\u{3}\u{1}\0\u{2}\u{2}F"])
  func otherProtocol(_ greeting: String) async throws {
    let error = try await failure(timeout: .seconds(5)) { exchange in
      exchange.write(greeting)
      return .hold
    }
    #expect(error == temporary("answers something that is no HTTP"))
  }

  @Test(
    "a status that there is not, or that was not asked for, ends the connection, and nothing else",
    arguments: ["000", "001", "099", "101"])
  func noStatus(_ status: String) async throws {
    let endpoint = try RawEndpoint { exchange in
      guard exchange.number == 0 else { return exchange.answer(200, [:], "yes") }
      exchange.write("HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno")
      return .hold
    }
    let service = try Self.service(endpoint.url)
    let error = await #expect(throws: DeliveryError.self) {
      try await service.send(HTTPService.Request("GET", endpoint.url))
    }
    #expect(error == temporary("answers something that is no HTTP"))
    #expect(try await service.send(HTTPService.Request("GET", endpoint.url)).body == Array("yes".utf8))
    await service.close()
  }

  @Test("a name that nobody has, a port that nobody listens at, a machine that has left")
  func nobody() async throws {
    #expect(
      try await failure("http://no-such-name.invalid/", ["send-unencrypted": .boolean(true)])
        == .temporary(reason: "the name no-such-name.invalid is not known"))
    let port = try TCPSocket.freePort()
    #expect(
      try await failure("http://127.0.0.1:\(port)/")
        == temporary("refuses the connection: does it run, and is the port right?"))
    #expect(
      try await failure("http://localhost:\(port)/")
        == .temporary(reason: "localhost refuses the connection: does it run, and is the port right?"))
    let hole = try BlackHole()
    // Whichever of two clocks is first.
    let silence = try await failure("http://127.0.0.1:\(hole.port)/", timeout: .milliseconds(300))
    #expect(silence == temporary("did not answer in time") || silence == temporary("does not answer"))
  }

  @Test("whoever does not wait any longer is not kept")
  func cancellation() async throws {
    let endpoint = try RawEndpoint { _ in .hold }
    let service = try Self.service(endpoint.url)
    let task = Task { try await service.send(HTTPService.Request("GET", endpoint.url)) }
    while endpoint.requests.isEmpty { await Task.yield() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await service.close()
  }

  // MARK: What is not sent

  @Test(
    "health data goes unencrypted to this machine only",
    arguments: [
      "http://127.0.0.1:8080/", "http://127.1.2.3/", "http://localhost/x", "http://[::1]:80/", "https://example.org/",
      "HTTPS://example.org/",
    ]) func here(_ url: String) async throws
  { await (try Self.service(url)).close() }

  @Test(
    "and to others only where a person says so",
    arguments: [
      "http://example.org/", "HTTP://example.org/", "http://192.168.1.2/", "http://127.0.0.1.example.org/",
      "http://127.example.org/", "http://localhost.example.org/", "http://[::2]/", "http://[fe80::1]/",
      "http://128.0.0.1/",
    ]) func elsewhere(_ url: String) async throws
  {
    let error = #expect(throws: SettingsError.self) { try Self.service(url) }
    #expect(error?.key == "url")
    await (try Self.service(url, ["send-unencrypted": .boolean(true)])).close()
  }

  @Test("an address with a port that there is not, as a server may name it, is not asked")
  func noPort() async throws {
    let service = try Self.service("http://127.0.0.1/")
    for port in [65_536, 0, 4_294_967_297] {
      let error = await #expect(throws: DeliveryError.self) {
        try await service.send(HTTPService.Request("GET", "http://127.0.0.1:\(port)/"))
      }
      #expect(error == .unusable(reason: "the address that is asked has a port that there is not"))
    }
    await service.close()
  }

  @Test("nor to an address of http:// that a server names")
  func led() async throws {
    let service = try Self.service("https://127.0.0.1:1/")
    let error = await #expect(throws: DeliveryError.self) {
      try await service.send(HTTPService.Request("GET", "http://example.org/"))
    }
    guard case .unusable? = error else {
      Issue.record("sent")
      return
    }
    await service.close()
  }

  @Test("a line break in a secret makes no other header")
  func injection() async throws {
    let endpoint = try RawEndpoint { $0.answer(200) }
    let service = try Self.service(endpoint.url)
    for header in [("Authorization", "Bearer s3cret\r\nX-Other: 1"), ("A\u{0}", "s3cret"), ("A B", "s3cret"), ("", "")]
    {
      let error = await #expect(throws: DeliveryError.self) {
        try await service.send(HTTPService.Request("GET", endpoint.url, headers: [header]))
      }
      #expect(error.map { !"\($0)".contains("s3cret") } == true)
    }
    #expect(endpoint.requests.isEmpty)
    await service.close()
  }
}
