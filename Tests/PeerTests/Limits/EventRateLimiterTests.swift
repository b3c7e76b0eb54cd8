import HealthModel
import HealthStore
import Logging
import TestSupport
import Testing

@testable import PeerServer

@Suite("Noise from callers without a token")
struct EventRateLimiterTests {
  private func instant(_ seconds: Int) -> Duration { .seconds(seconds) }

  @Test("the first is written at once, with the number that was not before the next")
  func counting() {
    var gate = EventRateLimiter()
    #expect(gate.admit("missing", at: instant(0)) == 0)
    for second in 1..<60 { #expect(gate.admit("missing", at: instant(second)) == nil) }
    #expect(gate.admit("missing", at: instant(60)) == 59)
    #expect(gate.admit("missing", at: instant(61)) == nil)
    #expect(gate.admit("missing", at: instant(120)) == 1)
    // Another kind does not wait for this one.
    #expect(gate.admit("unknown", at: instant(61)) == 0)
  }

  @Test("a year without a pause: ten, then one an hour, and every one is counted")
  func year() {
    var gate = EventRateLimiter()
    var (written, counted, asked) = (0, 0, 0)
    var lastHours: [Int] = []
    for second in stride(from: 0, through: 365 * 86_400, by: 45) {
      asked += 1
      guard let skipped = gate.admit("missing", at: instant(second)) else { continue }
      written += 1
      counted += skipped + 1
      lastHours.append(second / 3600)
    }
    #expect(written <= 10 + 365 * 24 + 1)
    #expect(written >= 365 * 24)
    #expect(asked - counted < 100)
    #expect(Set(lastHours.dropFirst(10)).count == lastHours.count - 10)
  }

  @Test("whatever the rhythm, no kind has more than ten and one an hour")
  func rhythms() {
    for pause in [1, 59, 60, 61, 600, 3_599, 3_600, 3_601, 7_200] {
      for burst in [1, 2, 10, 50] {
        var gate = EventRateLimiter()
        var (written, second) = (0, 0)
        while second < 30 * 86_400 {
          for _ in 0..<burst {
            if gate.admit("missing", at: instant(second)) != nil { written += 1 }
            second += pause < 60 ? pause : 60
          }
          second += pause
        }
        #expect(written <= 10 + 30 * 24 + 1, "pause \(pause), burst \(burst)")
      }
    }
  }

  @Test("after quiet, news is written down at once again")
  func quiet() {
    var gate = EventRateLimiter()
    for second in 0..<3_000 { _ = gate.admit("missing", at: instant(second)) }
    #expect(gate.admit("missing", at: instant(3_000 + 3_600)) != nil)
    var written = 0
    for minute in 0..<20 where gate.admit("missing", at: instant(90_000 + minute * 60)) != nil { written += 1 }
    #expect(written == 10)
  }

  @Test("kinds without number share one")
  func manyKinds() {
    var gate = EventRateLimiter()
    var written = 0
    for kind in 0..<10_000 where gate.admit("reason \(kind)", at: instant(kind)) != nil { written += 1 }
    #expect(written <= 32 + 10 + 3)
  }

  @Test("an hour of hammering leaves a few rows, and the log still shows what mattered")
  func hammering() async throws {
    try await withStore { store in
      var logger = Logger(label: "test")
      logger.logLevel = .critical
      let clock = ManualClock()
      let audit = AuditTrail(store: store, logger: logger, clock: clock)
      await audit.record(AuditEvent.Name.serverStarted)
      for second in 0..<7_200 {
        for reason in ["missing", "unknown", "revoked"] {
          await audit.refused(reason, address: "192.0.2.\(second % 250)")
        }
        if second == 3_000 { await audit.record(AuditEvent.Name.windowOpened) }
        clock.advance(by: .seconds(1))
      }
      let records = try await store.audit.records()
      #expect(records.count { $0.event == "token.refused" } == 3 * 11)
      #expect(records.count { $0.event == "window.opened" } == 1)
      let counted = records.filter { $0.detail["reason"] == "missing" }
        .reduce(0) { $0 + 1 + (Int($1.detail["alsoRefused"] ?? "0") ?? 0) }
      #expect(counted > 3_000)
    }
  }

  @Test("what one sender of the inbox is refused keeps nothing of another out of the log")
  func senders() async throws {
    try await withStore { store in
      var logger = Logger(label: "test")
      logger.logLevel = .critical
      let clock = ManualClock()
      let audit = AuditTrail(store: store, logger: logger, clock: clock)
      for _ in 0..<30 {
        await audit.refusedBody("scope", of: "phone", address: "192.0.2.1")
        clock.advance(by: .seconds(60))
      }
      await audit.refusedBody("scope", of: "phone", address: "192.0.2.1")
      await audit.refusedBody("scope", of: "tablet", address: "192.0.2.2")
      await audit.refusedBody("unknown", of: nil, address: "192.0.2.3")
      let senders = try await store.audit.records().map { $0.detail["sender"] }
      #expect(senders == Array(repeating: "phone", count: 10) + ["tablet", nil])
    }
  }
}
