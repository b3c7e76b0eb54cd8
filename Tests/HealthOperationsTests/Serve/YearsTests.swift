import Foundation
import HealthModel
import HealthStore
import Logging
import PeerProtocol
import Synchronization
import TestSupport
import Testing

@testable import HealthOperations
@testable import PeerTrust

/// Tests of five years with a simulated clock: data kept for a limited time is removed, expiries are announced in
/// time, and nothing else is.
@Suite(.timeLimit(.minutes(5))) struct YearsTests {
  private static let day: TimeInterval = 86_400
  private static let days = 5 * 365
  /// The start of the test, 2026-01-01.
  private static let start = Date(timeIntervalSince1970: 1_767_225_600)

  /// A clock for sleeping and the matching wall clock.
  private final class Years: Sendable {
    let clock = ManualClock()
    private let days = Mutex(0)

    /// The number of days since the start.
    var day: Int { days.withLock(\.self) }
    var now: Date { YearsTests.start + Double(day) * YearsTests.day }

    /// Starts a new day. Returns when the work that is due on it is done.
    func dawn() async {
      while clock.sleepers == 0 { await Task.yield() }
      days.withLock { $0 += 1 }
      clock.advance(by: .seconds(86_400))
      while clock.sleepers == 0 { await Task.yield() }
    }
  }

  private func client(_ byte: UInt8, _ name: String, days: Double) throws -> PairedClient {
    PairedClient(
      id: try #require(PeerID(bytes: [UInt8](repeating: byte, count: 16))), name: name,
      tokenHash: try #require(BearerToken(bytes: [UInt8](repeating: byte, count: 32))).hash,
      method: .spake2, pairedAt: Self.start, expiresAt: Self.start + days * Self.day, tokenLifetime: days * Self.day)
  }

  private func server(_ byte: UInt8, _ name: String, dialect: String, days: Double) throws -> ServerRecord {
    ServerRecord(
      id: try #require(PeerID(bytes: [UInt8](repeating: byte, count: 16))), name: name,
      fingerprint: try #require(Fingerprint(bytes: [UInt8](repeating: byte, count: 32))),
      credential: BearerCredential(try #require(BearerToken(bytes: [UInt8](repeating: byte, count: 32)))),
      dialect: dialect, created: Self.start, expires: Self.start + days * Self.day)
  }

  @Test("the audit log keeps a year and can be verified, whatever has gone")
  func retention() async throws {
    let home = try TestHome()
    let years = Years()
    let (done, prunings) = AsyncStream.makeStream(of: AuditPruning?.self)
    let service = AuditRetention(
      store: home.store, days: 365, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      clock: years.clock, now: { Timestamp(microseconds: Int64(years.now.timeIntervalSince1970) * 1_000_000) }
    ) { prunings.yield($0) }
    func note() async throws {
      // Every other week somebody reads.
      let instant = Timestamp(microseconds: Int64(years.now.timeIntervalSince1970) * 1_000_000)
      try await home.store.audit.record(AuditEvent(.serverStarted, time: instant))
    }
    try await note()
    let running = Task { await service.run() }
    var results = done.makeAsyncIterator()
    _ = await results.next()
    for day in 1...Self.days {
      await years.dawn()
      let result = try #require(await results.next() ?? nil)
      if case .damaged = result { Issue.record("day \(day): \(result)") }
      if day % 14 == 0 { try await note() }
    }
    running.cancel()
    await running.value
    let log = try await home.store.audit.log().records
    let oldest = try #require(log.first?.time)
    let age = years.now.timeIntervalSince1970 - Double(oldest.microseconds) / 1_000_000
    #expect(age <= 366 * Self.day)
    // Each day that events go is an event itself, and goes a year later.
    #expect((26...400).contains(log.count), "\(log.count) events of a year are kept")
    guard case .intact(let rows, let pruned) = try await home.store.audit.verify() else {
      Issue.record("the log cannot be verified")
      return
    }
    #expect(rows == log.count && pruned > 100)
  }

  @Test("what is used is renewed and never spoken of; what ends is, in time, once a week, and once when it has ended")
  func endings() async throws {
    let home = try TestHome()
    let registry = try await home.home.openRegistry()
    try await registry.addClient(client(1, "weekly", days: 30))
    try await registry.addClient(client(2, "lost", days: 30))
    try await registry.addClient(client(3, "yearly", days: 365))
    try await registry.addServer(server(4, "phone", dialect: "HealthSync", days: 30))
    try await registry.addServer(server(5, "studio", dialect: "hpeer", days: 30))
    let years = Years()
    let told = Mutex<[(day: Int, text: String)]>([])
    let watch = ExpiryMonitor(home.home, clock: years.clock, now: { years.now }) { ending, isOver in
      let (day, text) = (years.day, "\(ending.name ?? "identity")\(isOver ? " over" : "")")
      told.withLock { $0.append((day, text)) }
    }
    let running = Task { await watch.run() }
    let weekly = try #require(BearerToken(bytes: [UInt8](repeating: 1, count: 32)))
    for day in 1...Self.days {
      if day % 7 == 0 {
        // As a request and a pull do it.
        let seen = try await registry.client(tokenHash: weekly.hash, certificate: nil, now: years.now).get()
        try await registry.touch(seen, now: years.now)
        let studio = try #require(try await registry.servers().first { $0.name == "studio" })
        try await registry.markServerUsed(id: studio.id, expires: studio.expiry(usedAt: years.now), now: years.now)
      }
      await years.dawn()
    }
    running.cancel()
    await running.value
    let all = told.withLock(\.self)
    #expect(Set(all.map(\.text)) == ["lost", "lost over", "phone", "phone over", "yearly", "yearly over"])
    for (name, end, notice) in [("lost", 30, 8), ("phone", 30, 8), ("yearly", 365, 31)] {
      let before = all.filter { $0.text == name }.map(\.day)
      #expect((before.first ?? 0) >= end - notice - 1 && (before.first ?? 0) <= end - notice + 2, "\(name): \(before)")
      #expect(zip(before, before.dropFirst()).allSatisfy { $1 - $0 == 7 }, "\(name): \(before)")
      #expect(all.count { $0.text == "\(name) over" } == 1)
    }
  }

  @Test("this machine's own certificate, a month before its 25 years are over")
  func identity() async throws {
    let home = try TestHome()
    let end = try #require(try await home.home.identity().validity).end
    #expect(try await home.home.endings(now: end - 31 * Self.day).isEmpty)
    let ending = try #require(try await home.home.endings(now: end - 29 * Self.day).first)
    #expect(ending == Ending(subject: .identity, ends: end) && !ending.isOver(at: end - 1) && ending.isOver(at: end))
  }
}
