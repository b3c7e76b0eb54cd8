import Foundation
import HealthModel
import HealthStore
import NIOConcurrencyHelpers
import NIOCore
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerClient

@Suite("Servers that are broken or hostile")
struct HostileServerTests {
  private static let head =
    "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"

  /// Returns a chunk of a chunked body.
  private static func chunk(_ text: String) -> ByteBuffer {
    ByteBuffer(string: String(text.utf8.count, radix: 16) + "\r\n" + text + "\r\n")
  }

  private static func record(_ identity: PeerIdentity, port: Int) throws -> ServerRecord {
    ServerRecord(
      id: identity.id, name: "studio", fingerprint: identity.fingerprint, credential: BearerCredential(.random()))
  }

  private static func head(_ format: ChangeFeedFormat) -> String {
    head.replacing(ChangeFeedFormat.lines.rawValue, with: format.rawValue)
  }

  /// Returns a batch as a single chunk.
  private static func batch(
    _ samples: [Sample], _ token: String, more: Bool, _ format: ChangeFeedFormat
  ) throws -> ByteBuffer {
    var coder = ChangeCoder()
    for sample in samples { try coder.add(sample) }
    let bytes = try ChangeFeedEncoder(format).encode(
      ChangeFeedBatch(changes: coder.changes, token: token, more: more))
    var chunk = ByteBuffer(string: String(bytes.count, radix: 16) + "\r\n")
    chunk.writeBytes(bytes)
    chunk.writeString("\r\n")
    return chunk
  }

  /// Pulls from a server. Returns the error, the number of stored samples and the requests.
  private static func pull(
    _ answer: @escaping @Sendable (_ request: String, _ outbound: ByteOutbound) async throws -> Void
  ) async throws -> (error: (any Error)?, stored: Int, requests: [String]) {
    let identity = try await makeIdentity()
    return try await withCannedServer(tls: identity, answer: answer) { port, requests in
      try await withStore { store in
        var failure: (any Error)?
        do {
          _ = try await Pull(
            into: store, from: try record(identity, port: port), at: PeerEndpoint(host: "127.0.0.1", port: port)
          ).run()
        } catch {
          failure = error
        }
        return (failure, try await store.total(), requests())
      }
    }
  }

  private static func line(_ change: ChangeLine) throws -> String {
    var bytes: [UInt8] = []
    try ChangeLineEncoder().encode(change, into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("garbage instead of a change feed is an error of the feed, and nothing is stored")
  func garbage() async throws {
    for text in ["hello\n", "{}\n", "[1]\n", #"{"added":{}}"# + "\n", #"{"token":"x"}"# + "\n", "\u{0}\u{1}\n"] {
      let (error, stored, _) = try await Self.pull { _, outbound in
        try await outbound.write(ByteBuffer(string: Self.head))
        try await outbound.write(Self.chunk(text))
      }
      #expect(error as? PeerError == .feed(.malformed(line: 1)), "\(text)")
      #expect(stored == 0)
    }
  }

  @Test("what came before garbage without a token is not stored")
  func garbageAfterSamples() async throws {
    let (error, stored, _) = try await Self.pull { _, outbound in
      try await outbound.write(ByteBuffer(string: Self.head))
      for sample in Samples.heartRates(10) { try await outbound.write(Self.chunk(try Self.line(.added(sample)))) }
      try await outbound.write(Self.chunk("garbage\n"))
    }
    #expect(error as? PeerError == .feed(.malformed(line: 11)))
    #expect(stored == 0)
  }

  @Test(
    "a count of changes that nothing has is no count",
    arguments: ["9223372036854775807", "-9223372036854775808", "-1", "281474976710656", "1e9", ""])
  func counts(_ count: String) async throws {
    let (error, stored, requests) = try await Self.pull { request, outbound in
      let isFirst = !request.contains("since=")
      let head = "Content-Type: application/x-ndjson\r\nHpeer-Changes: \(count)\r\nTransfer-Encoding: chunked\r\n\r\n"
      try await outbound.write(ByteBuffer(string: "HTTP/1.1 200 OK\r\n" + head))
      try await outbound.write(Self.chunk(try Self.line(.added(Samples.quantity()))))
      try await outbound.write(Self.chunk(try Self.line(.token(isFirst ? "t1" : "t2", more: isFirst))))
      try await outbound.write(ByteBuffer(string: "0\r\n\r\n"))
    }
    #expect(error == nil)
    #expect(stored == 2)
    #expect(requests.count == 2)
  }

  @Test("an error of the server in the middle keeps what its tokens covered")
  func serverError() async throws {
    let (error, stored, _) = try await Self.pull { _, outbound in
      try await outbound.write(ByteBuffer(string: Self.head))
      try await outbound.write(Self.chunk(try Self.line(.added(Samples.quantity()))))
      try await outbound.write(Self.chunk(try Self.line(.token("t1", more: true))))
      try await outbound.write(Self.chunk(try Self.line(.added(Samples.quantity()))))
      try await outbound.write(Self.chunk(try Self.line(.error("out of disk"))))
      try await outbound.write(ByteBuffer(string: "0\r\n\r\n"))
    }
    #expect(error as? PeerError == .feed(.server("out of disk")))
    #expect(stored == 1)
  }

  @Test("a stream that ends without a token is cut off, and nothing is stored")
  func noToken() async throws {
    let (error, stored, _) = try await Self.pull { _, outbound in
      try await outbound.write(ByteBuffer(string: Self.head))
      try await outbound.write(Self.chunk(try Self.line(.added(Samples.quantity()))))
      try await outbound.write(ByteBuffer(string: "0\r\n\r\n"))
    }
    #expect(error as? PeerError == .feed(.cutOff))
    #expect(stored == 0)
    let (empty, _, _) = try await Self.pull { _, outbound in
      try await outbound.write(ByteBuffer(string: Self.head + "0\r\n\r\n"))
    }
    #expect(empty as? PeerError == .feed(.cutOff))
  }

  @Test("a line without an end is given up, long before memory is")
  func endlessLine() async throws {
    let piece = Self.chunk(String(repeating: "x", count: 1 << 20))
    let (error, stored, _) = try await Self.pull { _, outbound in
      try await outbound.write(ByteBuffer(string: Self.head))
      // Far more than the longest line; the client must hang up.
      for _ in 0..<1_000 { try await outbound.write(piece) }
    }
    #expect(error as? PeerError == .feed(.lineTooLong(line: 1)))
    #expect(stored == 0)
  }

  @Test("changes without an end and without a token are given up, too")
  func endlessBatch() async throws {
    let tombstone = try Self.line(
      .deleted(Tombstone(sample: Samples.quantity().reference, deleted: Timestamp(seconds: 0))))
    let piece = Self.chunk(String(repeating: tombstone, count: 1_000))
    let (error, stored, _) = try await Self.pull { _, outbound in
      try await outbound.write(ByteBuffer(string: Self.head))
      for _ in 0..<1_000 { try await outbound.write(piece) }
    }
    guard case .feed(.noToken)? = error as? PeerError else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(stored == 0)
  }

  /// Batches of answers without progress: the number of changes, the token, and whether there is more.
  private static let standingStill: [(String, [(Int, String, Bool)])] = [
    ("a batch that is not the last brings nothing", [(0, "t1", true)]),
    ("nor does the second", [(1, "t1", true), (0, "t2", true)]),
    ("the token stays", [(1, "t1", true), (1, "t1", true)]),
    ("a batch follows the last", [(1, "t1", false), (1, "t2", false)]),
    ("and another that is empty", [(1, "t1", false), (0, "t2", false)]),
  ]

  @Test(
    "an answer goes forward with each batch, or is given up: what came before is kept",
    arguments: ChangeFeedFormat.allCases, standingStill.indices)
  func standsStill(format: ChangeFeedFormat, index: Int) async throws {
    let (what, batches) = Self.standingStill[index]
    let (error, stored, requests) = try await Self.pull { _, outbound in
      try await outbound.write(ByteBuffer(string: Self.head(format)))
      for (changes, token, more) in batches {
        try await outbound.write(try Self.batch(Samples.heartRates(changes), token, more: more, format))
      }
      try await outbound.write(ByteBuffer(string: "0\r\n\r\n"))
    }
    #expect(error as? PeerError == .feed(.noProgress), "\(what)")
    #expect(stored == batches.dropLast().reduce(0) { $0 + $1.0 }, "\(what)")
    #expect(requests.count == 1)
  }

  @Test("a token that was asked with does not come back with more", arguments: ChangeFeedFormat.allCases)
  func sameTokenAgain(format: ChangeFeedFormat) async throws {
    let (error, stored, requests) = try await Self.pull { _, outbound in
      try await outbound.write(ByteBuffer(string: Self.head(format)))
      try await outbound.write(try Self.batch(Samples.heartRates(1), "same", more: true, format))
      try await outbound.write(ByteBuffer(string: "0\r\n\r\n"))
    }
    #expect(error as? PeerError == .feed(.noProgress))
    #expect(stored == 1)
    #expect(requests.count == 2)
  }

  @Test("the same change again and again ends a pull, within one answer and over many", arguments: [1, 500])
  func repeated(batches: Int) async throws {
    let sample = Samples.quantity()
    let sent = NIOLockedValueBox(0)
    var network = ClientNetwork()
    network.limits.repeatedChanges = 100
    let (error, stored, requests) = try await ClientNetwork.$current.withValue(network) {
      try await Self.pull { _, outbound in
        try await outbound.write(ByteBuffer(string: Self.head))
        for _ in 0..<batches {
          let number = sent.withLockedValue { number in
            number += 1
            return number
          }
          try await outbound.write(try Self.batch([sample], "t\(number)", more: true, .lines))
        }
        try await outbound.write(ByteBuffer(string: "0\r\n\r\n"))
      }
    }
    #expect(error as? PeerError == .feed(.noProgress))
    #expect(stored == 1)
    #expect(requests.count <= 110)
  }

  @Test("a record that is here already may come again, as after a backup was put back")
  func everythingAgain() async throws {
    var network = ClientNetwork()
    network.limits.repeatedChanges = 10
    try await ClientNetwork.$current.withValue(network) {
      try await withServer(ServerOptions(samples: Samples.heartRates(500), changesPerToken: 50)) { server in
        try await withStore { store in
          let pull = Pull(into: store, from: try await server.record().server, at: server.endpoint)
          _ = try await pull.run()
          #expect(try await pull.run(full: true).unchanged == 500)
        }
      }
    }
  }

  @Test(
    "an answer without end beside its body is given up",
    arguments: [
      String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n", count: 100_000),
      "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 1_000_000),
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + String(repeating: "x", count: 4_000_000),
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + String(repeating: "a: b\r\n", count: 1_000_000),
    ])
  func framing(text: String) async throws {
    let (error, stored, _) = try await Self.pull { _, outbound in try await outbound.write(ByteBuffer(string: text)) }
    switch error as? PeerError {
    case .unexpectedAnswer, .notHpeer: break
    default: Issue.record("\(String(describing: error))")
    }
    #expect(stored == 0)
  }

  @Test("a server that takes back every token it gives is not started over with for ever")
  func alwaysGone() async throws {
    let sample = Samples.quantity()
    let (error, _, requests) = try await Self.pull { request, outbound in
      if request.contains("since=") {
        try await outbound.write(httpResponse(#"{"success":false,"error":"gone"}"#, status: "410 Gone"))
      } else {
        try await outbound.write(ByteBuffer(string: Self.head))
        try await outbound.write(try Self.batch([sample], "t", more: true, .lines))
        try await outbound.write(ByteBuffer(string: "0\r\n\r\n"))
      }
    }
    #expect(error as? PeerError == .tokenGone)
    #expect(requests.count == 4)
  }

  @Test("a token is handed back as it came, whatever is in it, and one that fits no URL is refused")
  func oddTokens() async throws {
    let odd = "a b&types=x\r\nX-Injected: 1 \u{e9}/%"
    let (error, _, requests) = try await Self.pull { request, outbound in
      try await outbound.write(ByteBuffer(string: Self.head))
      let isFirst = !request.contains("since=")
      let token = isFirst ? odd : "end"
      try await outbound.write(try Self.batch(Samples.heartRates(1), token, more: isFirst, .lines))
      try await outbound.write(ByteBuffer(string: "0\r\n\r\n"))
    }
    #expect(error == nil)
    let line = try #require(requests.last?.split(separator: "\r\n").first)
    #expect(line == "GET /api/v2/changes?since=a%20b%26types%3Dx%0D%0AX-Injected%3A%201%20%C3%A9%2F%25 HTTP/1.1")
    for bad in ["", String(repeating: "t", count: 5_000)] {
      let (error, _, requests) = try await Self.pull { _, outbound in
        try await outbound.write(ByteBuffer(string: Self.head))
        try await outbound.write(Self.chunk(try Self.line(.token(bad, more: false))))
        try await outbound.write(ByteBuffer(string: "0\r\n\r\n"))
      }
      #expect(error is PeerError)
      #expect(requests.count == 1)
    }
  }

  @Test("a feed of another version is taken for nothing else", arguments: ["", ".1", ".2"])
  func otherVersion(version: String) async throws {
    let (error, stored, requests) = try await Self.pull { _, outbound in
      let head = Self.head.replacing(
        ChangeFeedFormat.lines.rawValue, with: "application/vnd.hpeer.changes\(version); a=b")
      try await outbound.write(ByteBuffer(string: head))
      try await outbound.write(try Self.batch(Samples.heartRates(3), "token", more: false, .columns))
      try await outbound.write(ByteBuffer(string: "0\r\n\r\n"))
    }
    #expect(error as? PeerError == .feed(.otherVersion))
    #expect("\(ChangeFeedError.otherVersion)".contains("another version of hpeer"))
    #expect(stored == 0 && requests.count == 1)
  }

  @Test("other statuses are told apart")
  func statuses() async throws {
    let body = #"{"success":false,"error":"no"}"#
    for (status, expected) in [
      ("401 Unauthorized", PeerError.tokenRefused(peer: "studio")),
      ("429 Too Many Requests", .busy(retryAfter: 7)),
      ("503 Service Unavailable", .busy(retryAfter: 7)),
      ("500 Internal Server Error", .unexpectedAnswer(status: 500, message: "no")),
      ("410 Gone", .unexpectedAnswer(status: 410, message: "no")),
    ] {
      let (error, _, _) = try await Self.pull { _, outbound in
        try await outbound.write(httpResponse(body, status: status, headers: ["Retry-After: 7"]))
      }
      #expect(error as? PeerError == expected)
    }
  }

  @Test("the token is sent in the one header, and nowhere else")
  func request() async throws {
    let (_, _, requests) = try await Self.pull { _, outbound in
      try await outbound.write(ByteBuffer(string: Self.head))
      try await outbound.write(Self.chunk(try Self.line(.token("t", more: false))))
      try await outbound.write(ByteBuffer(string: "0\r\n\r\n"))
    }
    let request = try #require(requests.first)
    #expect(requests.count == 1)
    #expect(request.hasPrefix("GET /api/v2/changes HTTP/1.1\r\n"))
    #expect(request.components(separatedBy: "Bearer ").count == 2)
    #expect(request.contains("\r\nAccept: application/vnd.hpeer.changes.3, application/x-ndjson;q=0.1"))
  }
}
