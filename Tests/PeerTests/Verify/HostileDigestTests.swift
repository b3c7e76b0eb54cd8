import Foundation
import HealthModel
import HealthStore
import NIOConcurrencyHelpers
import NIOCore
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

@Suite("Servers whose digests are broken or hostile")
struct HostileDigestTests {
  /// Compares with a server. Returns the result or the error.
  private static func verify(
    types: [SampleType] = [], isDeep: Bool = false,
    _ answer: @escaping @Sendable (_ request: String, _ outbound: ByteOutbound) async throws -> Void
  ) async throws -> (result: Result<Verification, any Error>, requests: [String]) {
    let identity = try await makeIdentity()
    return try await withCannedServer(tls: identity, answer: answer) { port, requests in
      try await withStore { store in
        try await store.apply(ChangeBatch(additions: Samples.heartRates(3)))
        let record = ServerRecord(
          id: identity.id, name: "studio", fingerprint: identity.fingerprint, credential: BearerCredential(.random()))
        let endpoint = PeerEndpoint(host: "127.0.0.1", port: port)
        do {
          let verification = try await Verify(store, with: record, at: endpoint, types: types, isDeep: isDeep).run()
          return (.success(verification), requests())
        } catch {
          return (.failure(error), requests())
        }
      }
    }
  }

  private static func body(_ types: String = "[]", filter: String = "{}", version: Int = 1) -> String {
    #"{"success":true,"data":{"version":\#(version),"token":"t","filter":\#(filter),"types":\#(types)}}"#
  }

  private static func expectUnexpected(_ result: Result<Verification, any Error>, _ comment: Comment) {
    guard case .failure(let error) = result, case .unexpectedAnswer? = error as? PeerError else {
      Issue.record("\(comment): \(result)")
      return
    }
  }

  @Test("what is not a digest is an error, never a result")
  func garbage() async throws {
    let zero = String(repeating: "0", count: 32)
    for text in [
      "", "hello", "{}", "[]", #"{"success":true}"#, #"{"success":false,"error":"x"}"#, Self.body("{}"),
      Self.body("[{}]"),
      Self.body(version: 2), Self.body(filter: "[]"), Self.body(filter: #"{"earliest":"yesterday"}"#),
      Self.body(
        #"[{"type":"A","months":[{"month":"x","samples":{"count":1,"sum":"\#(zero)"},"deleted":{"count":0,"sum":"\#(zero)"}}]}]"#
      ),
      Self.body(
        #"[{"type":"A","months":[{"month":"2024-06","samples":{"count":1,"sum":"\#(zero)"},"deleted":{"count":0,"sum":"\#(zero)"},"contents":"\#(zero)"}]}]"#
      ),
      String(repeating: "[", count: 100_000), #"{"data":"# + String(repeating: #"{"a":"#, count: 100_000),
    ] {
      let (result, _) = try await Self.verify { _, outbound in try await outbound.write(httpResponse(text)) }
      Self.expectUnexpected(result, "\(text.prefix(80))")
    }
  }

  @Test("an answer without an end is given up, long before memory is", .timeLimit(.minutes(5)))
  func endless() async throws {
    let piece = ByteBuffer(string: "100000\r\n" + String(repeating: " ", count: 1 << 20) + "\r\n")
    let (result, _) = try await Self.verify { _, outbound in
      try await outbound.write(ByteBuffer(string: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"))
      for _ in 0..<1_000 { try await outbound.write(piece) }
    }
    Self.expectUnexpected(result, "endless")
  }

  @Test("a digest of more or other types than were asked for is refused")
  func otherTypes() async throws {
    for filter in ["{}", #"{"types":["HKQuantityTypeIdentifierStepCount"]}"#] {
      let (result, _) = try await Self.verify(types: [Samples.heartRate]) { _, outbound in
        try await outbound.write(httpResponse(Self.body(filter: filter)))
      }
      Self.expectUnexpected(result, "\(filter)")
    }
  }

  @Test("a filter that changes between two answers is refused")
  func changingFilter() async throws {
    let (result, requests) = try await Self.verify(isDeep: true) { request, outbound in
      let filter = request.contains("deep=1") ? #"{"types":[]}"# : "{}"
      try await outbound.write(httpResponse(Self.body(filter: filter)))
    }
    Self.expectUnexpected(result, "filter")
    #expect(requests.count == 2)
    #expect(requests.last?.hasPrefix("GET /api/v2/digest?from=2024-06&to=2024-06&deep=1 HTTP/1.1\r\n") == true)
  }

  @Test("names from the server that no terminal should see come out as they are, as differences only")
  func oddNames() async throws {
    let zero = String(repeating: "0", count: 32)
    let months =
      #"[{"month":"+290000-01","samples":{"count":9007199254740992,"sum":"\#(zero)"},"deleted":{"count":0,"sum":"\#(zero)"}}]"#
    let (result, _) = try await Self.verify { _, outbound in
      try await outbound.write(httpResponse(Self.body(#"[{"type":"\u001b[31m,&%","months":\#(months)}]"#)))
    }
    let verification = try result.get()
    #expect(verification.differences.count == 2)
    #expect(verification.differences.contains { $0.type.rawValue == "\u{1b}[31m,&%" })
  }

  @Test("a server that is at work is asked again, one that is merely busy is not")
  func atWork() async throws {
    let attempts = NIOLockedValueBox(0)
    let (result, requests) = try await Self.verify { _, outbound in
      let isFirst = attempts.withLockedValue { attempts in
        attempts += 1
        return attempts == 1
      }
      if isFirst {
        try await outbound.write(
          httpResponse("{}", status: "503 Service Unavailable", headers: ["Retry-After: 1"]))
      } else {
        try await outbound.write(httpResponse(Self.body()))
      }
    }
    #expect(requests.count == 2)
    #expect(try result.get().differences.map(\.type) == [Samples.heartRate])
    for (status, expected) in [
      ("429 Too Many Requests", PeerError.busy(retryAfter: nil)), ("503 Service Unavailable", .busy(retryAfter: nil)),
      ("401 Unauthorized", .tokenRefused(peer: "studio")),
      ("404 Not Found", .unexpectedAnswer(status: 404, message: "its hpeer has no digests yet: update it")),
      ("500 Internal Server Error", .unexpectedAnswer(status: 500, message: "no")),
    ] {
      let (result, requests) = try await Self.verify { _, outbound in
        try await outbound.write(httpResponse(#"{"success":false,"error":"no"}"#, status: status))
      }
      #expect(requests.count == 1)
      guard case .failure(let error) = result else {
        Issue.record("\(status)")
        continue
      }
      #expect(error as? PeerError == expected)
    }
  }
}
