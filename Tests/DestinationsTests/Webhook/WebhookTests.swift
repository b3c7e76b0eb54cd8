import Cryptography
import Foundation
import HealthFormats
import HealthModel
import HealthStore
import Synchronization
import TestSupport
import Testing

@testable import Destinations

@Suite(.timeLimit(.minutes(5))) struct WebhookTests {
  private let home: DestinationHome
  private let samples: [Sample]

  init() throws {
    home = try DestinationHome()
    var maker = SampleMaker(seed: 11)
    samples = (0..<60).map { maker.steps(at: $0) }
  }

  private func webhook(
    _ endpoint: RawEndpoint, _ values: [String: DestinationSettings.Value] = [:], secrets: [String: String] = [:]
  ) throws -> WebhookDestination {
    try home.make(
      WebhookDestination.self, values.merging(["url": .text(endpoint.url + "in?a=b")]) { first, _ in first },
      secrets: secrets)
  }

  /// Returns the UUIDs that an NDJSON body adds and deletes.
  private static func lines(_ body: [UInt8]) throws -> (added: Set<UUID>, deleted: Set<UUID>) {
    struct Line: Decodable {
      var added: Sample?
      var deleted: Tombstone?
    }
    var (added, deleted): (Set<UUID>, Set<UUID>) = ([], [])
    for line in body.split(separator: UInt8(ascii: "\n")) {
      let line = try JSONDecoder().decode(Line.self, from: Data(line))
      if let sample = line.added { added.insert(sample.uuid) }
      if let tombstone = line.deleted { deleted.insert(tombstone.sample.uuid) }
    }
    return (added, deleted)
  }

  @Test("changes come as lines of the feed, deletions before additions, in batches with keys of their own")
  func lines() async throws {
    let endpoint = try RawEndpoint { $0.answer(204) }
    let webhook = try webhook(endpoint, ["batch": .integer(25), "method": .text("PUT")])
    try await home.add(samples)
    #expect(try await home.deliver(to: webhook) == CourierReport(delivered: 60))
    let requests = endpoint.requests
    #expect(requests.count == 3 && Set(requests.compactMap { $0.headers["idempotency-key"] }).count == 3)
    #expect(requests.allSatisfy { $0.method == "PUT" && $0.target == "/in?a=b" })
    #expect(requests.allSatisfy { $0.headers["content-type"] == "application/x-ndjson" })
    #expect(
      try requests.reduce(into: Set()) { $0.formUnion(try Self.lines($1.body).added) } == Set(samples.map(\.uuid)))

    try await home.delete([samples[0], samples[1]])
    var maker = SampleMaker(seed: 12)
    try await home.add([maker.steps(at: 100)])
    #expect(try await home.deliver(to: webhook).delivered == 3)
    let last = try #require(endpoint.requests.last)
    #expect(try Self.lines(last.body).deleted == [samples[0].uuid, samples[1].uuid])
    #expect(String(decoding: last.body.prefix(11), as: UTF8.self) == #"{"deleted":"#)
    // Nothing new, no request.
    #expect(try await home.deliver(to: webhook) == CourierReport())
    #expect(endpoint.requests.count == 4)
    await webhook.close()
  }

  @Test("what was not acknowledged comes again under its key, so that a receiver has all of it once")
  func lostAnswers() async throws {
    let had = Mutex<[String: [UInt8]]>([:])
    let endpoint = try RawEndpoint { exchange in
      let isNew = had.withLock {
        $0.updateValue(exchange.request.body, forKey: exchange.request.headers["idempotency-key"] ?? "") == nil
      }
      // Every batch arrives, and its first answer does not.
      if isNew { return exchange.number % 2 == 0 ? .close : exchange.answer(503, ["Retry-After": "1"]) }
      return exchange.answer(200)
    }
    let webhook = try webhook(endpoint, ["batch": .integer(20)])
    try await home.add(samples)
    let report = try await home.deliver(to: webhook)
    #expect(report.delivered == 60 && report.retries >= 3)
    let bodies = had.withLock(\.self)
    #expect(bodies.count == 3)
    #expect(try bodies.values.reduce(0) { $0 + (try Self.lines($1).added.count) } == 60)
    await webhook.close()
  }

  @Test("a sample that is refused is set aside, and all others arrive; a body that is too large comes in parts")
  func refused() async throws {
    let poison = samples[17].uuid.uuidString
    let had = Mutex<Set<UUID>>([])
    let endpoint = try RawEndpoint { exchange in
      guard let added = try? Self.lines(exchange.request.body).added else { return exchange.answer(400) }
      if added.count > 20 { return exchange.answer(413) }
      if added.contains(where: { $0.uuidString == poison }) { return exchange.answer(422) }
      had.withLock { $0.formUnion(added) }
      return exchange.answer(200)
    }
    let webhook = try webhook(endpoint)
    try await home.add(samples)
    #expect(try await home.deliver(to: webhook) == CourierReport(delivered: 59, refused: 1))
    #expect(home.refused() == [poison: "it answers 422"])
    #expect(had.withLock(\.self).count == 59)
    await webhook.close()
  }

  @Test("a wrong address refuses nothing for good", arguments: [301, 401, 403, 404, 405, 410])
  func misplaced(_ status: Int) async throws {
    let endpoint = try RawEndpoint { $0.answer(status, ["Location": "https://example.org/new"]) }
    let webhook = try webhook(endpoint)
    try await home.add(samples)
    await #expect(throws: CourierError.self) { try await home.deliver(to: webhook) }
    #expect(home.refused().isEmpty && endpoint.requests.count == 1)
    await webhook.close()
  }

  @Test("headers are sent, and secret ones by what they refer to")
  func headers() async throws {
    let endpoint = try RawEndpoint { $0.answer(200) }
    let webhook = try webhook(
      endpoint,
      [
        "headers": .table(["X-From": "hpeer"]), "secret-headers": .table(["X-Api-Key": "env:KEY"]),
        "token": .text("env:TOKEN"),
      ], secrets: ["KEY": "s3cret", "TOKEN": "t0ken"])
    try await webhook.check()
    let request = try #require(endpoint.requests.first)
    #expect(request.headers["x-from"] == "hpeer" && request.headers["x-api-key"] == "s3cret")
    #expect(request.headers["authorization"] == "Bearer t0ken" && request.headers["hpeer-test"] == "true")
    #expect(request.body.isEmpty)
    await webhook.close()
  }

  @Test(
    "headers that are wrong, or secrets in the open, are found before anything is sent",
    arguments: [
      ("headers", "Authorization", "Bearer x"), ("headers", "x-api-key", "x"), ("headers", "Content-Length", "3"),
      ("headers", "a b", "x"), ("headers", "X", "a\r\nY: b"), ("secret-headers", "X", "t0ken"),
      ("secret-headers", "X", "env:BROKEN"), ("secret-headers", "X", "env:NONE"),
      ("secret-headers", "Webhook-Id", "env:A"),
    ]) func wrongHeaders(_ key: String, _ name: String, _ value: String) throws
  {
    let endpoint = try RawEndpoint { $0.answer(200) }
    let error = #expect(throws: SettingsError.self) {
      try webhook(endpoint, [key: .table([name: value])], secrets: ["BROKEN": "s3cret\nX: y", "A": "s3cret"])
    }
    #expect(error?.key == key && "\(String(describing: error))".contains("s3cret") == false)
  }

  @Test("a token of two lines is the token's fault")
  func brokenToken() throws {
    let endpoint = try RawEndpoint { $0.answer(200) }
    let error = #expect(throws: SettingsError.self) {
      try webhook(endpoint, ["token": .text("env:BROKEN")], secrets: ["BROKEN": "s3cret\nX: y"])
    }
    #expect(error?.key == "token" && "\(String(describing: error))".contains("s3cret") == false)
  }

  @Test("a check says nothing, and takes a receiver that wants samples for one that is there")
  func check() async throws {
    for (status, isGood) in [(200, true), (400, true), (422, true), (404, false), (500, false), (403, false)] {
      for body in WebhookBody.allCases {
        let endpoint = try RawEndpoint { $0.answer(status) }
        let webhook = try webhook(endpoint, ["body": .text(body.rawValue)])
        do {
          try await webhook.check()
          #expect(isGood)
        } catch is DeliveryError {
          #expect(!isGood)
        }
        await webhook.close()
      }
    }
  }

  @Test("whoever begins anew is told so, even where nothing is left")
  func startsOver() async throws {
    let endpoint = try RawEndpoint { $0.answer(200) }
    let webhook = try webhook(endpoint, ["body": .text("hat-json-v2")])
    let batch = DeliveryBatch(changes: ChangeCoder().changes, startsOver: true)
    _ = try await webhook.deliver(batch, key: DeliveryKey(description: "key"))
    #expect(endpoint.requests.first?.headers["hpeer-starts-over"] == "true")
    await webhook.close()
  }

  // MARK: Signatures

  @Test("a signature is over ID.TIMESTAMP.BODY, as an example of Standard Webhooks has it")
  func vector() throws {
    // Of the reference implementation's tests.
    let signature = try WebhookSignature(secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    let headers = signature.headers(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: Array(#"{"test": 2432232314}"#.utf8),
      now: Date(timeIntervalSince1970: 1_614_265_330))
    #expect(
      headers.map(\.value) == [
        "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      ])
    #expect(throws: SettingsError.self) { try WebhookSignature(secret: "whsec_!") }
    #expect(throws: SettingsError.self) { try WebhookSignature(secret: "whsec_") }
  }

  private static let judge = PythonEnvironment("webhook")

  @Test(
    "Standard Webhooks' own library takes what is sent, compressed too, and nothing that was changed",
    .enabled(if: judge.folder != nil, "\(judge.missing)"))
  func signed() async throws {
    let python = try #require(Self.judge.program("python"))
    let endpoint = try RawEndpoint { $0.answer(200) }
    let secret = "whsec_" + Data((0..<32).map { UInt8($0) }).base64EncodedString()
    try await home.add(samples)
    let webhook = try webhook(
      endpoint, ["signing-secret": .text("env:S"), "gzip": .boolean(true), "body": .text("hat-json-v1")],
      secrets: ["S": secret])
    _ = try await home.deliver(to: webhook)
    let request = try #require(endpoint.requests.first)
    try Data(request.body).write(to: URL(filePath: home.directory.path("body")))
    let script = """
      import gzip, json, sys
      from standardwebhooks import Webhook
      headers = dict(zip(["webhook-id", "webhook-timestamp", "webhook-signature"], sys.argv[3:]))
      body = open(sys.argv[2], "rb").read()
      webhook = Webhook(sys.argv[1])
      # Its verify decodes JSON, which compressed bytes are none of.
      from datetime import datetime, timezone
      stamp = datetime.fromtimestamp(int(headers["webhook-timestamp"]), tz=timezone.utc)
      def sign(body):
          import base64, hashlib, hmac
          data = f"{headers['webhook-id']}.{int(stamp.timestamp())}.".encode() + body
          return "v1," + base64.b64encode(hmac.new(webhook._whsecret, data, hashlib.sha256).digest()).decode()
      assert sign(body) == headers["webhook-signature"]
      assert sign(body + b"x") != headers["webhook-signature"]
      plain = gzip.decompress(body)
      headers["webhook-signature"] = webhook.sign(headers["webhook-id"], stamp, plain.decode())
      print(len(webhook.verify(plain.decode(), headers)))
      """
    let headers = ["webhook-id", "webhook-timestamp", "webhook-signature"].compactMap { request.headers[$0] }
    let said = try output(of: python, ["-c", script, secret, home.directory.path("body")] + headers)
    #expect(said.status == 0 && said.text == "60\n", "\(said.text)")
    // As it is sent uncompressed, all of it by the library.
    let plain = try self.webhook(
      endpoint, ["signing-secret": .text("env:S"), "body": .text("hat-json-v1")], secrets: ["S": secret])
    try await plain.check()
    let probe = try #require(endpoint.requests.last)
    try Data(probe.body).write(to: URL(filePath: home.directory.path("body")))
    let verify = """
      import sys
      from standardwebhooks import Webhook, WebhookVerificationError
      headers = dict(zip(["webhook-id", "webhook-timestamp", "webhook-signature"], sys.argv[3:]))
      body = open(sys.argv[2]).read()
      Webhook(sys.argv[1]).verify(body, headers)
      for other in [dict(headers, **{"webhook-id": "x"}), dict(headers, **{"webhook-timestamp": "1614265330"})]:
          try:
              Webhook(sys.argv[1]).verify(body, other)
              sys.exit("changed headers are taken")
          except WebhookVerificationError:
              pass
      """
    let others = ["webhook-id", "webhook-timestamp", "webhook-signature"].compactMap { probe.headers[$0] }
    let verified = try output(of: python, ["-c", verify, secret, home.directory.path("body")] + others)
    #expect(verified.status == 0, "\(verified.text)")
    await webhook.close()
    await plain.close()
  }
}
