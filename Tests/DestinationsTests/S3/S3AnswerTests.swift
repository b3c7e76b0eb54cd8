import Foundation
import HealthModel
import Synchronization
import TestSupport
import Testing

@testable import Destinations

/// Tests with S3 responses that moto doesn't give.
@Suite("S3's answers", .timeLimit(.minutes(5)))
struct S3AnswerTests {
  private static let now = Timestamp(seconds: 1_718_447_400)

  private func client(
    _ endpoint: RawEndpoint, _ values: [String: DestinationSettings.Value] = [:], secrets: [String: String]? = nil
  ) throws -> S3Client {
    let settings = try DestinationSettings(
      name: "x",
      [
        "bucket": .text("health"), "endpoint": .text(endpoint.url), "access-key": .text("env:KEY"),
        "secret-key": .text("env:SECRET"),
      ].merging(values) { $1 }, of: S3Destination.description)
    let secrets = SecretStore(environment: secrets ?? ["KEY": "AKID", "SECRET": "secret"])
    return try S3Client(settings, AWSCredentialSource(settings, secrets), now: { Self.now })
  }

  private static func error(_ code: String, _ more: String = "") -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>\(code)</Code><Message>no</Message>\(more)</Error>"
  }

  /// Returns the error of a get request.
  private func failure(_ answer: @escaping RawEndpoint.Behaviour) async throws -> DeliveryError? {
    let endpoint = try RawEndpoint(answer)
    let client = try client(endpoint)
    defer { Task { await client.close() } }
    do {
      _ = try await S3ObjectStore(client, encryption: .none).get("a")
      return nil
    } catch let error as DeliveryError { return error }
  }

  @Test("a wrong clock is put right once, by that of the server")
  func skew() async throws {
    let endpoint = try RawEndpoint { exchange in
      exchange.request.headers["x-amz-date"] == "20240615T123000Z"
        ? exchange.answer(200, ["ETag": "\"a\""], "x")
        : exchange.answer(403, ["Date": "Sat, 15 Jun 2024 12:30:00 GMT"], Self.error("RequestTimeTooSkewed"))
    }
    let client = try client(endpoint)
    let store = S3ObjectStore(client, encryption: .none)
    #expect(try await store.get("a")?.bytes == Array("x".utf8))
    #expect(try await store.get("a")?.bytes == Array("x".utf8))
    #expect(endpoint.requests.count == 3)
    await client.close()
    let error = try await failure { $0.answer(403, [:], Self.error("RequestTimeTooSkewed")) }
    #expect("\(try #require(error))".contains("clock"))
  }

  @Test("a file that is too large is refused, and nothing else is", arguments: [(413, ""), (400, "EntityTooLarge")])
  func tooLarge(_ status: Int, _ code: String) async throws {
    let endpoint = try RawEndpoint { $0.answer(status, [:], code.isEmpty ? "" : Self.error(code)) }
    let client = try client(endpoint)
    let store = S3ObjectStore(client, encryption: .none)
    let error = await #expect(throws: DeliveryError.self) {
      try await store.put([1], at: "a", contentType: "text/plain", if: .always)
    }
    guard case .refused(let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("too large"))
    await client.close()
  }

  @Test("an object that is too large to be read is refused, and does not hold up what follows")
  func largeObject() async throws {
    let error = try await failure { exchange in
      exchange.write("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: \(DayFiles.largestObject + 1)\r\n\r\nx")
      return .close
    }
    #expect(error == .refused(reason: "a is larger than any file that is read"))
  }

  @Test("of what a store says to a write, not as much is read as of a file")
  func longReceipt() async throws {
    let written = Mutex(0)
    let endpoint = try RawEndpoint { exchange in
      exchange.write("HTTP/1.1 200 OK\r\n\r\n")
      let block = [UInt8](repeating: 0x78, count: 1 << 20)
      while exchange.write(block) { written.withLock { $0 += block.count } }
      return .close
    }
    let client = try client(endpoint)
    let store = S3ObjectStore(client, encryption: .none)
    await #expect(throws: DeliveryError.temporary(reason: "127.0.0.1 answers with more than is read")) {
      try await store.put([1], at: "a", contentType: "text/plain", if: .always)
    }
    await client.close()
    // Besides what is read, only what the sockets hold.
    #expect(written.withLock(\.self) < DayFiles.largestObject / 2)
  }

  @Test(
    "an object that may not be read is not taken for absent where a write would replace it, nor where it was read before"
  )
  func forbidden() async throws {
    let endpoint = try RawEndpoint { $0.answer(403, [:], Self.error("AccessDenied")) }
    let client = try client(endpoint)
    let protected = S3ObjectStore(client, encryption: .none)
    #expect(try await protected.get("a") == nil)
    await #expect(throws: DeliveryError.self) { try await protected.getKnown("a", limit: 100) }
    let unprotected = S3ObjectStore(client, encryption: .none, isOnlyWriter: true)
    await #expect(throws: DeliveryError.self) { try await unprotected.get("a") }
    await client.close()
  }

  @Test("a store that is busy is asked later, and not before it says")
  func busy() async throws {
    let error = try await failure { $0.answer(503, ["Retry-After": "7"], Self.error("SlowDown")) }
    #expect(error == .temporary(reason: "it is busy (SlowDown, 503)", retryAfter: .seconds(7)))
  }

  @Test("the right region is named", arguments: [true, false])
  func region(inHeader: Bool) async throws {
    let error = try await failure { exchange in
      inHeader
        ? exchange.answer(301, ["x-amz-bucket-region": "eu-west-1"], Self.error("PermanentRedirect"))
        : exchange.answer(400, [:], Self.error("AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>"))
    }
    guard case .unusable(let reason) = error else { throw CocoaError(.coderReadCorrupt) }
    #expect(reason.hasSuffix("set region = \"eu-west-1\""))
  }

  @Test("credentials that were renewed are read anew")
  func renewal() async throws {
    let folder = try TemporaryDirectory()
    func keep(_ token: String) throws {
      try token.write(toFile: folder.path("token"), atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.path("token"))
    }
    try keep("old")
    let endpoint = try RawEndpoint { exchange in
      exchange.request.headers["x-amz-security-token"] == "new"
        ? exchange.answer(200, ["ETag": "\"a\""], "x") : exchange.answer(400, [:], Self.error("ExpiredToken"))
    }
    let client = try client(endpoint, ["session-token": .text("file:\(folder.path("token"))")])
    let store = S3ObjectStore(client, encryption: .none)
    await #expect(throws: DeliveryError.self) { try await store.get("a") }
    try keep("new")
    #expect(try await store.get("a")?.bytes == Array("x".utf8))
    await client.close()
  }

  @Test("what may not be listed may still be written, and what may not be read is said")
  func withoutListing() async throws {
    let isThere = Mutex(false)
    let endpoint = try RawEndpoint { exchange in
      exchange.request.method == "GET"
        ? exchange.answer(403, [:], Self.error("AccessDenied"))
        : isThere.withLock(\.self)
          ? exchange.answer(412, [:], Self.error("PreconditionFailed")) : exchange.answer(200, ["ETag": "\"a\""])
    }
    let client = try client(endpoint)
    let store = S3ObjectStore(client, encryption: .none)
    #expect(try await store.get("a") == nil)
    try await store.put([1], at: "a", contentType: "text/plain", if: .absent)
    isThere.withLock { $0 = true }
    #expect(try await store.get("a") == nil)
    await #expect(throws: DeliveryError.self) {
      try await store.put([1], at: "a", contentType: "text/plain", if: .absent)
    }
    await client.close()
  }

  @Test("a write under way of the same name is a conflict, and a failure after 200 is one")
  func lateFailures() async throws {
    let endpoint = try RawEndpoint { exchange in
      exchange.request.method == "PUT"
        ? exchange.answer(409, [:], Self.error("ConditionalRequestConflict"))
        : exchange.answer(200, [:], Self.error("InternalError"))
    }
    let client = try client(endpoint)
    let store = S3ObjectStore(client, encryption: .none)
    await #expect(throws: ObjectConflict.self) {
      try await store.put([1], at: "a", contentType: "text/plain", if: .absent)
    }
    await #expect(throws: DeliveryError.self) {
      try await client.send(S3Client.Request(method: "POST", name: "a", query: [("uploads", "")]))
    }
    await client.close()
  }

  @Test("a file that speaks of errors is none")
  func harmlessContent() async throws {
    let text = Self.error("SlowDown")
    #expect(try await failure { $0.answer(200, ["ETag": "\"a\""], text) } == nil)
  }

  @Test("hostile answers end in a sentence")
  func hostileAnswers() async throws {
    var random = SeededGenerator(seed: 5)
    let whole = Array(Self.error("AccessDenied", "<Region>eu&#x2D;west-1</Region>").utf8)
    for _ in 0..<400 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        bytes[index] = UInt8.random(in: 0...255, using: &random)
      }
      let response = HTTPService.Response(
        status: [200, 301, 403, 503].randomElement(using: &random) ?? 403, headers: [], body: bytes)
      guard let failure = S3Failure(response, mayComeLate: true) else { continue }
      #expect(failure.region?.utf8.allSatisfy { (0x21...0x7E).contains($0) } != false)
    }
    #expect(XMLElements.unescaped("a&amp;b&#x2D;&#45;&unknown;&#xD800;&") == "a&b--&unknown;&#xD800;&")
    #expect(XMLElements.all("a", in: "<d:a x=\"1\">1</d:a><b><a/></b><a>2<c/>3</a><a>") == ["1", "", "2<c/>3"])
  }
}
