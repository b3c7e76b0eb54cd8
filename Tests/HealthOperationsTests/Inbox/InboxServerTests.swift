import Foundation
import HealthFormats
import HealthModel
import HealthStore
import PeerServer
import PeerTrust
import TestSupport
import Testing

@testable import HealthOperations

@Suite("An inbox over TLS, and what apps send to it", .timeLimit(.minutes(5)))
struct InboxServerTests {
  private static let steps = SampleType("HKQuantityTypeIdentifierStepCount")

  @Test("the bytes of every app are taken, each at the place and with the header that it has")
  func senders() async throws {
    try await RunningInbox.run(try TestHome()) { inbox in
      let secret = try await inbox.add("phone")
      for body in [SenderBodies.transfer1, SenderBodies.transfer2, SenderBodies.transferTable] {
        let answer = try await inbox.post(body, to: "/inbox/phone", secret: secret)
        #expect(answer.status == 200 && answer.text.contains(#""format":"healthAppTransfer""#), "\(answer.text)")
      }
      let exported = try await inbox.post(
        SenderBodies.autoExport().utf8, to: "/inbox/phone", "X-API-Key: \(secret)",
        more: ["-H", "automation-aggregation: Days"])
      #expect(exported.status == 200 && exported.text.contains(#""taken":2"#), "\(exported.text)")
      for path in ["/api/webhook/healthpush_phone", "/inbox/phone"] {
        let pushed = try await inbox.post(SenderBodies.healthPush.utf8, to: path, "X-Webhook-Secret: \(secret)")
        #expect(pushed.status == 200 && pushed.text.contains("Accepted 2 metric"), "\(pushed.text)")
      }
      let tested = try await inbox.post(
        SenderBodies.healthPushTest.utf8, to: "/inbox/phone", "X-Webhook-Secret: \(secret)")
      #expect(tested.status == 200, "\(tested.text)")
      let daily = try await inbox.post(SenderBodies.dailySummary, to: "/sync/healthkit", secret: secret)
      #expect(daily.status == 200 && daily.text.contains(#""taken":7"#), "\(daily.text)")
      #expect(
        try await inbox.counts() == [
          "HKQuantityTypeIdentifierHeartRate": 1, "HKQuantityTypeIdentifierStepCount": 1,
          "HKQuantityTypeIdentifierBodyMass": 1, "hae.step_count": 1, "hae.heart_rate": 1, "healthpush.steps": 1,
          "healthpush.heart_rate": 1, "p247.step_count": 1, "p247.active_calories": 1, "p247.hrv": 1,
          "p247.resting_hr": 1, "p247.protein_g": 1, "p247.sleep": 1, "p247.workout": 1,
        ])
      #expect(try await inbox.registry.inboxSenders().first?.lastSeen != nil)
    }
  }

  @Test("without the secret of that very path nothing is taken, and nothing is ever read")
  func strangers() async throws {
    try await RunningInbox.run(try TestHome()) { inbox in
      let (phone, scale) = (try await inbox.add("phone"), try await inbox.add("scale"))
      for secret in [nil, "nonsense", BearerToken.random().text, scale] {
        let answer = try await inbox.post(SenderBodies.transfer1, to: "/inbox/phone", secret: secret)
        #expect(answer.status == 401, "\(answer.text)")
      }
      #expect(try await inbox.post(SenderBodies.transfer1, to: "/sync/healthkit", secret: nil).status == 401)
      let header = ["-H", "Authorization: Bearer \(phone)"]
      for path in ["/inbox/phone", "/inbox", "/status", "/api/v2/changes", "/health/types", "/"] {
        #expect(try await inbox.curl(header, path).status == 404, "\(path)")
      }
      #expect(try await inbox.counts().isEmpty)
      let refused = try await inbox.home.audited().filter { $0.event == AuditEvent.Name.inboxRefused.rawValue }
      #expect(Set(refused.compactMap { $0.detail["reason"] }) == ["missing", "unknown", "wrongName"])
      #expect(try await inbox.post(SenderBodies.transfer1, to: "/inbox/phone", secret: phone).status == 200)
      #expect(try await InboxSenders(inbox.registry, auditedIn: inbox.home.store).remove("phone"))
      #expect(try await inbox.post(SenderBodies.transfer2, to: "/inbox/phone", secret: phone).status == 401)
    }
  }

  @Test(
    "a sender's types are taken, by HealthKit's names too, others are left out and said, and only others are refused")
  func scope() async throws {
    try await RunningInbox.run(try TestHome()) { inbox in
      let secret = try await inbox.add("phone", types: [Self.steps])
      let only = try await inbox.post(SenderBodies.transfer1, to: "/inbox/phone", secret: secret)
      #expect(only.status == 403 && only.text.contains("--types"), "\(only.text)")
      let partly = try await inbox.post(SenderBodies.transfer2, to: "/inbox/phone", secret: secret)
      #expect(partly.status == 200 && partly.text.contains("this sender may not send it"), "\(partly.text)")
      let daily = try await inbox.post(SenderBodies.autoExport(), to: "/inbox/phone", secret: secret)
      #expect(daily.status == 200 && daily.text.contains(#""taken":1"#), "\(daily.text)")
      #expect(try await inbox.counts() == [Self.steps.rawValue: 1, "hae.step_count": 1])
    }
  }

  @Test("whose record it is, no sender says")
  func person() async throws {
    try await RunningInbox.run(try TestHome()) { inbox in
      let secret = try await inbox.add("phone")
      let body = #"""
        [{"characteristicValue":"1950-01-01","endDate":"2024-06-15T10:30:00Z","id":"B3F1C2A4-1111-4222-8333-000000000009","sourceName":"iPhone","startDate":"2024-06-15T10:30:00Z","type":"dateOfBirth"}]
        """#
      #expect(try await inbox.post(body, to: "/inbox/phone", secret: secret).status == 200)
      #expect(try await inbox.home.store.person() == Person())
      // Another's record has come in the meantime.
      let other = Person(characteristics: [Person.Trait.dateOfBirth.rawValue: "1987-03-01"])
      try await inbox.registry.addInboxSender("watch", secret: BearerToken.random(), types: nil, person: other)
      let export = try inbox.home.file(
        "other.xml", AppleExportText(heartRates: 1, dateOfBirth: "1986-05-17").text)
      _ = try await inbox.home.importer(export).run(into: inbox.home.store)
      let watch = BearerToken.random()
      try await inbox.registry.addInboxSender("watch", secret: watch, types: nil, person: other)
      let refused = try await inbox.post(SenderBodies.transfer2, to: "/inbox/watch", secret: watch.text)
      #expect(refused.status == 409, "\(refused.text)")
      #expect(try await inbox.counts()[Self.steps.rawValue] == nil)
    }
  }

  @Test("what is too large, a bomb, or torn is refused whole, with what to do")
  func hostile() async throws {
    var limits = InboxLimits()
    limits.bodyBytes = 1 << 20
    var contents = InboxBody.Limits()
    contents.contentBytes = 2 << 20
    contents.samples = 50
    try await RunningInbox.run(try TestHome(), limits: limits, contents: contents) { inbox in
      let secret = try await inbox.add("phone")
      func status(_ body: some Sequence<UInt8>, saying text: String) async throws -> Int {
        let answer = try await inbox.post(body, to: "/inbox/phone", "Authorization: Bearer \(secret)")
        #expect(answer.text.contains(text), "\(answer.text)")
        return answer.status
      }
      let large = [UInt8](repeating: 0x20, count: (1 << 20) + 1)
      #expect(try await status(large, saying: "shorter time") == 413)
      for compression in [FileCompression.gzip, .zstandard] {
        let bomb = Self.compressed([UInt8](repeating: 0x20, count: 8 << 20), compression)
        #expect(bomb.count < 1 << 20)
        #expect(try await status(bomb, saying: "larger than 2 MiB") == 413)
        let packed = Self.compressed(Array(SenderBodies.transfer1.utf8), compression)
        #expect(try await status(packed, saying: #""taken":1"#) == 200)
        #expect(try await status(packed.dropLast(9), saying: "nothing of it was taken") == 400)
      }
      let points = (0..<51).map { #"{"qty":1,"date":"2024-01-01 00:\#(10 + $0 % 49):00 +0000"}"# }
      let many =
        #"{"data":{"metrics":[{"name":"step_count","units":"count","data":[\#(points.joined(separator: ","))]}]}}"#
      #expect(try await status(many.utf8, saying: "more than 50 samples") == 413)
      for body in [
        SenderBodies.transfer2, SenderBodies.autoExport(), SenderBodies.healthPush, SenderBodies.dailySummary,
      ] {
        #expect(try await status(body.utf8.dropLast(2), saying: "ends in the middle") == 400)
      }
      #expect(try await status(SenderBodies.transferTable.utf8.dropLast(3), saying: "ends in the middle") == 400)
      #expect(try await status([], saying: "empty") == 400)
      #expect(try await status("hello".utf8, saying: "JSON") == 400)
      // What could delete is no body.
      #expect(
        try await status(#"{"deleted":{"uuid":"B3F1C2A4-1111-4222-8333-000000000001"}}"#.utf8, saying: "JSON") == 400)
      #expect(try await inbox.counts() == ["HKQuantityTypeIdentifierHeartRate": 1])
    }
  }

  @Test("the same body again, at once or later, has the same answer and adds nothing; a later reading replaces")
  func again() async throws {
    try await RunningInbox.run(try TestHome()) { inbox in
      let secret = try await inbox.add("phone")
      let texts = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<4 {
          group.addTask {
            let answer = try await inbox.post(SenderBodies.transfer2, to: "/inbox/phone", secret: secret)
            return String(answer.text.split(separator: "\r\n\r\n").last ?? "")
          }
        }
        for index in 0..<2 {
          group.addTask {
            let body = SenderBodies.autoExport(day: "2024-06-1\(index)")
            return try await inbox.post(body, to: "/inbox/phone", secret: secret).status == 200 ? "" : "refused"
          }
        }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(texts.count == 2 && texts.contains(""), "\(texts)")
      #expect(try await inbox.counts()["hae.step_count"] == 2)
      let before = try await inbox.home.store.feed.currentAnchor()
      #expect(try await inbox.post(SenderBodies.transfer2, to: "/inbox/phone", secret: secret).status == 200)
      // As if it had been killed after the samples, before it knew the body again.
      let other = try await inbox.add("phone")
      let repeated = try await inbox.post(SenderBodies.transfer2, to: "/inbox/phone", secret: other)
      #expect(repeated.status == 200 && repeated.text.contains(#""taken":2"#))
      #expect(try await inbox.home.store.feed.currentAnchor() == before)
      let later = SenderBodies.autoExport(steps: 9000, day: "2024-06-10")
      #expect(try await inbox.post(later, to: "/inbox/phone", secret: other).status == 200)
      let readings = try await inbox.home.store.samples.page(of: SampleType("hae.step_count"), limit: 10)
      #expect(Set(readings.map(\.payload)) == [.quantity(Quantity(9000, "count")), .quantity(Quantity(8432, "count"))])
    }
  }

  @Test("a locked machine takes nothing, and too much is told when to come again")
  func limits() async throws {
    var limits = InboxLimits()
    (limits.bodyBurst, limits.bodiesPerSecond) = (2, 0.001)
    try await RunningInbox.run(try TestHome(), limits: limits) { inbox in
      let secret = try await inbox.add("phone")
      #expect(try await inbox.registry.lock())
      #expect(try await inbox.post(SenderBodies.transfer1, to: "/inbox/phone", secret: secret).status == 423)
      #expect(try await inbox.registry.unlock())
      for _ in 0..<2 {
        #expect(try await inbox.post(SenderBodies.transfer1, to: "/inbox/phone", secret: secret).status == 200)
      }
      let many = try await inbox.post(SenderBodies.transfer2, to: "/inbox/phone", secret: secret)
      #expect(many.status == 429)
      #expect(many.text.contains(#/(?i)retry-after: \d+/#), "\(many.text)")
      // Others are not held back by it.
      let other = try await inbox.add("scale")
      #expect(try await inbox.post(SenderBodies.transfer2, to: "/inbox/scale", secret: other).status == 200)
    }
  }

  @Test("two senders whose bodies do not come keep no third waiting, and are ended")
  func slow() async throws {
    let (clock, limits) = (ManualClock(), InboxLimits())
    try await RunningInbox.run(try TestHome(), limits: limits, clock: clock) { inbox in
      let phone = try await inbox.add("phone")
      try await withThrowingTaskGroup(of: Int.self) { group in
        for name in ["slow", "slower"] {
          let secret = try await inbox.add(name)
          for _ in 0..<limits.bodiesPerSender {
            group.addTask {
              let more = ["-H", "Content-Length: 1000000"]
              return try await inbox.post(SenderBodies.transfer1, to: "/inbox/\(name)", secret: secret, more: more)
                .status
            }
          }
        }
        // Two for each body that is waited for, and one of the certificates.
        while clock.sleepers < 4 * limits.bodiesPerSender + 1 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(try await inbox.post(SenderBodies.transfer2, to: "/inbox/phone", secret: phone).status == 200)
        clock.advance(by: limits.bodyPace)
        for try await status in group { #expect(status == 408) }
      }
    }
  }

  @Test("large samples count as many")
  func largeSamples() async throws {
    var limits = InboxLimits()
    (limits.sampleBurst, limits.samplesPerSecond) = (100, 0.001)
    try await RunningInbox.run(try TestHome(), limits: limits) { inbox in
      let secret = try await inbox.add("phone")
      let large = SenderBodies.dailySummary.replacing(
        #""source":"Apple Watch"},"#,
        with: #""source":"Apple Watch","note":"\#(String(repeating: "a", count: 120_000))"},"#)
      let packed = Self.compressed(Array(large.utf8), .gzip)
      let header = "Authorization: Bearer \(secret)"
      let taken = try await inbox.post(packed, to: "/inbox/phone", header)
      #expect(packed.count < 10_000 && taken.status == 200 && taken.text.contains(#""taken":7"#), "\(taken.text)")
      #expect(!taken.text.contains("contentBytes"))
      #expect(try await inbox.post(SenderBodies.transfer1, to: "/inbox/phone", secret: secret).status == 429)
    }
  }

  @Test("what is taken away while a body waits for its turn is not taken any more")
  func meanwhile() async throws {
    let (waiting, toWaiting) = AsyncStream.makeStream(of: Void.self)
    let (gate, toGate) = AsyncStream.makeStream(of: Void.self)
    defer { toGate.finish() }
    try await RunningInbox.run(
      try TestHome(), taking: { HeldInbox(inbox: $0, sender: "slow", waiting: toWaiting, gate: gate) }
    ) { inbox in
      let slow = try await inbox.add("slow")
      let (phone, scale) = (try await inbox.add("phone"), try await inbox.add("scale"))
      async let first = inbox.post(SenderBodies.transfer1, to: "/inbox/slow", secret: slow)
      _ = await waiting.first { _ in true }
      async let second = inbox.post(SenderBodies.transfer2, to: "/inbox/phone", secret: phone)
      async let third = inbox.post(SenderBodies.transferTable, to: "/inbox/scale", secret: scale)
      try await inbox.waitUntilSeen("phone")
      try await inbox.waitUntilSeen("scale")
      #expect(try await InboxSenders(inbox.registry, auditedIn: inbox.home.store).remove("phone"))
      #expect(try await inbox.registry.lock())
      toGate.finish()
      #expect(try await first.status == 200)
      #expect(try await second.status == 401)
      #expect(try await third.status == 423)
      #expect(try await inbox.counts() == ["HKQuantityTypeIdentifierHeartRate": 1])
    }
  }

  @Test("the same bytes of another run count again, and a run that is sent again does not")
  func comesBack() async throws {
    try await RunningInbox.run(try TestHome()) { inbox in
      let secret = try await inbox.add("phone")
      func post(_ steps: Int, run: String) async throws {
        let answer = try await inbox.post(
          SenderBodies.autoExport(steps: steps), to: "/inbox/phone", secret: secret, more: ["-H", "session-id: \(run)"])
        #expect(answer.status == 200 && answer.text.contains(#""taken":2"#), "\(answer.text)")
      }
      try await post(8432, run: "A")
      try await post(9000, run: "B")
      try await post(8432, run: "C")
      let readings = try await inbox.home.store.samples.page(of: SampleType("hae.step_count"), limit: 10)
      #expect(readings.map(\.payload) == [.quantity(Quantity(8432, "count"))])
      let before = try await inbox.home.store.feed.currentAnchor()
      try await post(9000, run: "B")
      #expect(try await inbox.home.store.feed.currentAnchor() == before)
    }
  }

  @Test("without a run, the bytes of an older reading are a late copy of it, and restore nothing")
  func lateCopy() async throws {
    try await RunningInbox.run(try TestHome()) { inbox in
      let secret = try await inbox.add("phone")
      for steps in [8432, 9000, 8432] {
        let answer = try await inbox.post(SenderBodies.autoExport(steps: steps), to: "/inbox/phone", secret: secret)
        #expect(answer.status == 200, "\(answer.text)")
      }
      let readings = try await inbox.home.store.samples.page(of: SampleType("hae.step_count"), limit: 10)
      #expect(readings.map(\.payload) == [.quantity(Quantity(9000, "count"))])
    }
  }

  @Test("samples of one time that pile up from body to body are refused at some point, whole")
  func crowd() async throws {
    let home = try TestHome()
    func receive(_ body: Int) async throws -> WriteSummary? {
      let samples = (0..<3).map { index in
        let id = "B3F1C2A4-1111-4222-8333-\(String(format: "%012d", body * 10 + index))"
        return
          #"{"endDate":"2024-06-15T10:30:00Z","id":"\#(id)","sourceName":"Watch","startDate":"2024-06-15T10:30:00Z","type":"heartRate","unit":"count/min","value":62}"#
      }
      let found = try InboxBody(Array("[\(samples.joined(separator: ","))]".utf8), now: .now)
      return try await home.store.receive(
        found.batches.map(\.changes), readings: [], road: found.road, crowd: 5, if: { _ in true })
    }
    #expect(try await receive(1)?.added == 3)
    #expect(try await receive(2)?.added == 3)
    #expect(try await receive(3) == nil)
    #expect(try await home.count() == 6)
  }

  private static func compressed(_ bytes: [UInt8], _ compression: FileCompression) -> [UInt8] {
    let compressor = compression.compressor()
    return compressor.compress(bytes) + compressor.finish()
  }
}
