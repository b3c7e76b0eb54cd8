import HealthModel
import HealthStore
import Testing
import TestSupport

@Suite struct AuditTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  private func events(_ count: Int) -> [AuditEvent] {
    (1...count).map {
      AuditEvent(
        $0 % 2 == 0 ? .dataRead : .pullFinished, ["peer": "Ren\u{E9}'s \"phone\" 😴\0", "count": "\($0)"],
        time: Timestamp(seconds: Int64($0)))
    }
  }

  private func write(_ count: Int) async throws {
    for event in events(count) { try await store.audit.record(event) }
  }

  @Test func recordsComeBackInOrder() async throws {
    try await write(3)
    try await store.audit.record(AuditEvent(.serverStarted, time: Timestamp(seconds: 4)))
    let records = try await store.audit.records()
    #expect(records.map(\.id) == [1, 2, 3, 4])
    #expect(records.map(\.event) == ["pull.finished", "data.read", "pull.finished", "server.started"])
    #expect(records.map(\.time) == (1...4).map { Timestamp(seconds: $0) })
    #expect(records.map(\.detail) == events(3).map(\.detail) + [[:]])
    #expect(try await store.audit.verify() == .intact(rows: 4))
  }

  @Test func anEmptyLogIsIntact() async throws {
    #expect(try await store.audit.verify() == .intact(rows: 0))
    #expect(try await store.audit.records() == [])
  }

  @Test func afterSinceAndLimitChoose() async throws {
    try await write(10)
    #expect(try await store.audit.records(after: 7).map(\.id) == [8, 9, 10])
    #expect(try await store.audit.records(since: Timestamp(seconds: 9)).map(\.id) == [9, 10])
    #expect(try await store.audit.records(limit: 2).map(\.id) == [1, 2])
    #expect(try await store.audit.records(after: 2, since: Timestamp(seconds: 5), limit: 3).map(\.id) == [5, 6, 7])
    #expect(try await store.audit.records(after: 10).isEmpty)
  }

  @Test func instancesShareOneChain() async throws {
    let other = try fixture.again()
    try await withThrowingTaskGroup { group in
      for (number, event) in events(40).enumerated() {
        group.addTask { try await (number % 2 == 0 ? store : other).audit.record(event) }
      }
      try await group.waitForAll()
    }
    #expect(try await other.audit.verify() == .intact(rows: 40))
    #expect(try await Set(store.audit.records().map(\.detail)) == Set(events(40).map(\.detail)))
  }

  @Test func rawValuesOfNamesAreDistinct() {
    #expect(Set(AuditEvent.Name.allCases.map(\.rawValue)).count == AuditEvent.Name.allCases.count)
  }

  @Test(
    .enabled(if: SQLiteShell.isAvailable),
    arguments: [
      ("UPDATE audit SET detail = '{}' WHERE id = 3", [.changed(3)]),
      ("UPDATE audit SET time = time + 1 WHERE id = 1", [.changed(1)]),
      ("UPDATE audit SET event = 'data.read' WHERE id = 5", [.changed(5)]),
      ("UPDATE audit SET event = event || char(0) || 'x' WHERE id = 4", [.changed(4)]),
      ("UPDATE audit SET detail = detail || char(0) WHERE id = 4", [.changed(4)]),
      (
        "UPDATE audit SET event = event || substr(detail, 1, 1), detail = substr(detail, 2) WHERE id = 2",
        [.changed(2)]
      ),
      ("UPDATE audit SET hash = zeroblob(32) WHERE id = 2", [.changed(2)]),
      ("UPDATE audit SET hash = zeroblob(32) WHERE id = 5", [.changed(5)]),
      ("DELETE FROM audit WHERE id = 3", [.missing(3...3)]),
      ("DELETE FROM audit WHERE id = 1", [.missing(1...1)]),
      ("DELETE FROM audit WHERE id < 5", [.missing(1...4)]),
      ("DELETE FROM audit WHERE id > 3", [.missing(4...5)]),
      ("DELETE FROM audit", [.missing(1...5)]),
      ("DELETE FROM audit WHERE id IN (2, 4)", [.missing(2...2), .missing(4...4)]),
      (
        "UPDATE audit SET id = -id WHERE id IN (2, 3); UPDATE audit SET id = 5 + id WHERE id < 0",
        [.moved(event: 3, to: 2), .moved(event: 2, to: 3)]
      ),
      ("UPDATE audit SET id = 9 WHERE id = 5", [.moved(event: 5, to: 9)]),
      ("UPDATE audit SET id = 9 WHERE id = 2", [.moved(event: 2, to: 9)]),
      ("INSERT INTO audit SELECT 6, time, event, detail, hash, previous FROM audit WHERE id = 5", [.inserted(6)]),
      ("INSERT INTO audit SELECT 0, time, event, detail, hash, previous FROM audit WHERE id = 5", [.inserted(0)]),
      ("UPDATE audit SET previous = zeroblob(32) WHERE id = 3", [.changed(3)]),
      ("UPDATE auditEnds SET lastHash = zeroblob(32)", [.rewritten(upTo: 5)]),
      ("UPDATE auditEnds SET prunedHash = zeroblob(32)", [.changed(1), .pruningNotRecorded(upTo: 0)]),
      (
        "UPDATE auditEnds SET prunedID = 2, prunedHash = (SELECT hash FROM audit WHERE id = 2)",
        [.inserted(1), .inserted(2), .pruningNotRecorded(upTo: 2)]
      ),
    ] as [(String, [AuditDamage])])
  func tamperingIsFound(sql: String, damage: [AuditDamage]) async throws {
    try await write(5)
    #expect(try await store.audit.verify() == .intact(rows: 5))
    try await SQLiteShell.run(sql, on: store.path)
    guard case .broken(let found) = try await store.audit.verify() else {
      Issue.record("nothing was found")
      return
    }
    #expect(Set(found) == Set(damage))
    #expect(found.count == damage.count)
    #expect(found.first?.event == damage.map(\.event).min())
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func anEventOfALaterVersionIsKept() async throws {
    try await SQLiteShell.run(
      "INSERT INTO audit VALUES (1, 0, 'of.tomorrow', '{\"a\":\"b\"}', x'00', x'')", on: store.path)
    let records = try await store.audit.records()
    #expect(records.map(\.event) == ["of.tomorrow"])
    #expect(records.map(\.detail) == [["a": "b"]])
  }
}
