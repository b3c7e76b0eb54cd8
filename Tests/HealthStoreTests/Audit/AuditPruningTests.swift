import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

@Suite struct AuditPruningTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }
  private static let day: Int64 = 86_400
  /// The start of the test, 2026-01-01.
  private static let start: Int64 = 1_767_225_600

  init() throws { fixture = try StoreFixture() }

  private static func time(_ day: Int) -> Timestamp { Timestamp(seconds: start + Int64(day) * Self.day) }

  private func write(_ days: some Sequence<Int>) async throws {
    for day in days { try await store.audit.record(AuditEvent(.dataRead, ["day": "\(day)"], time: Self.time(day))) }
  }

  private func prune(
    _ days: Int64, today: Int, _ clock: PruningClock = .mustBePlausible, dryRun: Bool = false
  ) async throws -> AuditPruning {
    try await store.audit.prune(olderThan: days * Self.day, clock: clock, dryRun: dryRun, now: Self.time(today))
  }

  private func days() async throws -> [String] { try await store.audit.records().compactMap { $0.detail["day"] } }

  @Test func oldEventsGoAndTheRestCanBeVerified() async throws {
    try await write(stride(from: 0, through: 400, by: 10))
    #expect(try await prune(365, today: 401) == .removed(count: 4, upTo: Self.time(30)))
    #expect(try await days().first == "40")
    #expect(try await store.audit.verify() == .intact(rows: 38, pruned: 4))
    let event = try #require(try await store.audit.records().last)
    #expect(event.event == "audit.pruned")
    #expect(event.id == 42)
    #expect((event.detail["from"], event.detail["to"]) == ("1", "4"))
    #expect(event.detail["hash"]?.count == 64)
    #expect(event.time == Self.time(401))

    // Again: nothing is old enough; later: the next ones, after which the newest event of its kind counts.
    #expect(try await prune(365, today: 402) == .nothing)
    #expect(try await prune(365, today: 420) == .removed(count: 2, upTo: Self.time(50)))
    #expect(try await store.audit.verify() == .intact(rows: 37, pruned: 6))
    // Even the events about pruning grow old.
    #expect(try await prune(0, today: 421) == .removed(count: 37, upTo: Self.time(420)))
    #expect(try await store.audit.verify() == .intact(rows: 1, pruned: 43))
    try await write([422])
    #expect(try await store.audit.verify() == .intact(rows: 2, pruned: 43))
    #expect(try await HealthStore.checkIntegrity(directory: fixture.directory.path).isSound)
  }

  @Test func aDryRunRemovesNothing() async throws {
    try await write(stride(from: 0, through: 400, by: 10))
    let before = try await store.audit.records()
    #expect(try await prune(365, today: 401, dryRun: true) == .removed(count: 4, upTo: Self.time(30)))
    #expect(try await store.audit.records() == before)
  }

  @Test func anEmptyOrYoungLogHasNothingToPrune() async throws {
    #expect(try await prune(1, today: 0) == .nothing)
    try await write(0..<20)
    #expect(try await prune(30, today: 20) == .nothing)
  }

  @Test func ageIsNotByNumberAloneWhenTheClockWentBack() async throws {
    // The clock was in 1970 for two events, between events that are young.
    try await write([0, 10, 20])
    try await store.audit.record(AuditEvent(.serverStarted, time: Timestamp(seconds: 5)))
    try await store.audit.record(AuditEvent(.serverStarted, time: Timestamp(seconds: 9)))
    try await write([21, 22])
    #expect(try await prune(15, today: 23, .isTrusted) == .removed(count: 1, upTo: Self.time(0)))
    #expect(try await days() == ["10", "20", "21", "22"])
  }

  @Test func aClockThatIsBehindPrunesNothing() async throws {
    try await write(stride(from: 0, through: 400, by: 10))
    #expect(try await prune(365, today: 399) == .clockInDoubt)
    #expect(try await prune(10, today: 100) == .clockInDoubt)
    #expect(try await days().count == 41)
  }

  @Test func aClockThatLeaptAYearAheadPrunesNothingEvenAfterItWroteEvents() async throws {
    try await write(stride(from: 0, through: 300, by: 10))
    #expect(try await prune(365, today: 700) == .clockInDoubt)
    // The server goes on for some days by that clock, and is started again.
    try await write(700..<705)
    #expect(try await prune(365, today: 705) == .clockInDoubt)
    // Then the clock is put right. What it dated ahead is in doubt as long as it is ahead.
    try await write(301..<310)
    #expect(try await prune(200, today: 310) == .clockInDoubt)
    #expect(try await days().count == 45)
    // By hand it goes; events after one that is dated ahead stay.
    #expect(try await prune(200, today: 310, .isTrusted) == .removed(count: 11, upTo: Self.time(100)))
    #expect(try await store.audit.verify() == .intact(rows: 35, pruned: 11))
  }

  @Test func aMachineThatWasOffForMonthsPrunesAMonthAfterItsReturn() async throws {
    try await write(stride(from: 0, through: 200, by: 10))
    try await write(400..<429)
    #expect(try await prune(365, today: 429) == .clockInDoubt)
    try await write(429..<432)
    #expect(try await prune(365, today: 432) == .removed(count: 7, upTo: Self.time(60)))
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func aLogThatWasTamperedWithIsKept() async throws {
    try await write(0..<40)
    try await SQLiteShell.run("UPDATE audit SET detail = '{}' WHERE id = 3", on: store.path)
    #expect(try await prune(20, today: 40, .isTrusted) == .damaged([.changed(3)]))
    #expect(try await store.audit.records().count == 40)
  }

  /// An attacker removes the beginning of the log and claims that it was pruned.
  @Test(.enabled(if: SQLiteShell.isAvailable), arguments: [true, false])
  func aFrontThatWasCutOffIsFoundWhereverTheBeginningIsMoved(afterPruning: Bool) async throws {
    try await write(0..<40)
    if afterPruning { #expect(try await prune(30, today: 40) == .removed(count: 10, upTo: Self.time(9))) }
    try await SQLiteShell.run(
      """
      UPDATE auditEnds SET prunedID = 20, prunedHash = (SELECT hash FROM audit WHERE id = 20);
      DELETE FROM audit WHERE id <= 20
      """, on: store.path)
    #expect(try await store.audit.verify() == .broken([.pruningNotRecorded(upTo: 20)]))
  }
}
