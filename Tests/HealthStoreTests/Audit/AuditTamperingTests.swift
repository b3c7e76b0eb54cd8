import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests with random logs, each tampered with once: the change is detected and the right event is named.
@Suite(.enabled(if: SQLiteShell.isAvailable), .timeLimit(.minutes(5))) struct AuditTamperingTests {
  /// A way to tamper with a log of `count` events, and the expected findings.
  private struct Tampering {
    var sql: String
    var damage: Set<AuditDamage>

    static func random(count: Int64, _ random: inout SeededGenerator) -> Tampering {
      let id = Int64.random(in: 1...count, using: &random)
      switch Int.random(in: 0..<11, using: &random) {
      case 0: return change("time = time + \(random.pick([1, -1, 1_000_000]))", id)
      case 1: return change("event = '\(random.pick(["import", "data.read2", ""]))'", id)
      case 2: return change("detail = '{}'", id)
      case 3: return change("hash = randomblob(32)", id)
      case 4:
        let place = count + Int64.random(in: 1...50, using: &random)
        return Tampering(
          sql: "UPDATE audit SET id = \(place) WHERE id = \(id)", damage: [.moved(event: id, to: place)])
      case 5: return Tampering(sql: "DELETE FROM audit WHERE id = \(id)", damage: [.missing(id...id)])
      case 6:
        var other = Int64.random(in: 1..<count, using: &random)
        if other >= id { other += 1 }
        return Tampering(
          sql: """
            UPDATE audit SET id = -1 WHERE id = \(id); UPDATE audit SET id = \(id) WHERE id = \(other);
            UPDATE audit SET id = \(other) WHERE id = -1
            """,
          damage: [.moved(event: id, to: other), .moved(event: other, to: id)])
      case 7:
        let place = random.pick([0, -5, count + 1, count + 9])
        return Tampering(
          sql: "INSERT INTO audit SELECT \(place), time, event, detail, hash, previous FROM audit WHERE id = \(id)",
          damage: [.inserted(place)])
      case 8:
        // A row of somebody's own; the others make room.
        return Tampering(
          sql: """
            UPDATE audit SET id = -(id + 1) WHERE id >= \(id); UPDATE audit SET id = -id WHERE id < 0;
            INSERT INTO audit VALUES (\(id), 0, 'import', '{}', randomblob(32), randomblob(32))
            """,
          damage: Set((id...count).map { .moved(event: $0, to: $0 + 1) } + [.inserted(id)]))
      case 9: return Tampering(sql: "DELETE FROM audit WHERE id >= \(id)", damage: [.missing(id...count)])
      default: return Tampering(sql: "DELETE FROM audit WHERE id <= \(id)", damage: [.missing(1...id)])
      }
    }

    private static func change(_ assignment: String, _ id: Int64) -> Tampering {
      Tampering(sql: "UPDATE audit SET \(assignment) WHERE id = \(id)", damage: [.changed(id)])
    }
  }

  @Test(arguments: 0..<10)
  func everySingleTamperingIsFound(block: Int) async throws {
    for run in 0..<12 {
      let seed = UInt64(block * 12 + run)
      var random = SeededGenerator(seed: seed)
      let fixture = try StoreFixture()
      let count = Int64.random(in: 2...25, using: &random)
      for number in 1...count {
        try await fixture.store.audit.record(
          AuditEvent(
            random.pick(AuditEvent.Name.allCases.filter { $0 != .auditPruned }), ["number": "\(number)"],
            time: Timestamp(seconds: Int64.random(in: 0...99, using: &random))))
      }
      let tampering = Tampering.random(count: count, &random)
      let place: Comment = "seed \(seed): \(tampering.sql)"
      try await SQLiteShell.run(tampering.sql, on: fixture.store.path)
      #expect(Set(try await damage(fixture.store)) == tampering.damage, place)
      // What is written afterwards does not cover it.
      try await fixture.store.audit.record(AuditEvent(.serverStarted))
      #expect(try await !damage(fixture.store).isEmpty, place)
    }
  }

  private func damage(_ store: HealthStore) async throws -> [AuditDamage] {
    guard case .broken(let damage) = try await store.audit.verify() else { return [] }
    return damage
  }

  @Test func aTailThatWasCutOffStaysMissing() async throws {
    let fixture = try StoreFixture()
    for number in 1...9 { try await fixture.store.audit.record(AuditEvent(.dataRead, ["number": "\(number)"])) }
    try await SQLiteShell.run("DELETE FROM audit WHERE id > 6", on: fixture.store.path)
    for number in 1...9 { try await fixture.store.audit.record(AuditEvent(.dataRead, ["later": "\(number)"])) }
    #expect(try await damage(fixture.store) == [.missing(7...9)])
    #expect(try await fixture.store.audit.records().map(\.id) == Array(1...6) + Array(10...18))
  }

  /// An attacker replaces events by forged events with matching hashes.
  @Test(
    arguments: [
      (6...6, [.rewritten(upTo: 6)]), (4...6, [.rewritten(upTo: 6)]), (1...6, [.rewritten(upTo: 6)]),
      (3...3, [.rewritten(upTo: 3)]), (3...4, [.rewritten(upTo: 4)]), (1...1, [.rewritten(upTo: 1)]),
      (7...7, [.inserted(7)]), (7...8, [.inserted(7), .inserted(8)]),
    ] as [(ClosedRange<Int64>, [AuditDamage])])
  func whatWasComputedAnewIsNamedAndNotWhatFollowsIt(ids: ClosedRange<Int64>, expected: [AuditDamage]) async throws {
    let (fixture, other) = (try StoreFixture(), try StoreFixture())
    for number in 1...8 {
      let event = AuditEvent(.dataRead, ["number": "\(number)"], time: Timestamp(seconds: Int64(number)))
      if number <= 6 { try await fixture.store.audit.record(event) }
      var forged = event
      if ids.contains(Int64(number)) { forged.detail["peer"] = "nobody" }
      try await other.store.audit.record(forged)
    }
    try await SQLiteShell.run(
      """
      ATTACH '\(other.store.path)' AS other;
      INSERT OR REPLACE INTO main.audit
        SELECT * FROM other.audit WHERE id BETWEEN \(ids.lowerBound) AND \(ids.upperBound)
      """, on: fixture.store.path)
    #expect(try await damage(fixture.store) == expected)
    // Whoever writes afterwards is not blamed, and covers nothing.
    for _ in 0..<3 { try await fixture.store.audit.record(AuditEvent(.serverStarted)) }
    #expect(try await damage(fixture.store) == expected)
  }

  @Test func theLastEventIsNamedAlsoAfterOthers() async throws {
    let fixture = try StoreFixture()
    for number in 1...4 { try await fixture.store.audit.record(AuditEvent(.dataRead, ["number": "\(number)"])) }
    try await SQLiteShell.run("UPDATE audit SET detail = '{}' WHERE id = 4", on: fixture.store.path)
    #expect(try await damage(fixture.store) == [.changed(4)])
    try await fixture.store.audit.record(AuditEvent(.serverStarted))
    #expect(try await damage(fixture.store) == [.changed(4)])
  }

  @Test func aLogOfManyChangedEventsIsSummedUp() async throws {
    let fixture = try StoreFixture()
    for number in 1...60 { try await fixture.store.audit.record(AuditEvent(.dataRead, ["number": "\(number)"])) }
    try await SQLiteShell.run("UPDATE audit SET time = time + 1 WHERE id > 10", on: fixture.store.path)
    let found = try await damage(fixture.store)
    #expect(found.first == .changed(11))
    #expect(found.last == .more(18))
  }

  /// This is the limit of a chain without a key, as documented.
  @Test func whoeverAlsoMovesTheEndIsNotFound() async throws {
    let fixture = try StoreFixture()
    for number in 1...9 { try await fixture.store.audit.record(AuditEvent(.dataRead, ["number": "\(number)"])) }
    try await SQLiteShell.run(
      """
      DELETE FROM audit WHERE id > 6;
      UPDATE auditEnds SET lastID = 6, lastHash = (SELECT hash FROM audit WHERE id = 6)
      """, on: fixture.store.path)
    #expect(try await damage(fixture.store).isEmpty)
  }
}
