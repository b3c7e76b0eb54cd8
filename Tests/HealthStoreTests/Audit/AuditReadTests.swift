import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests that consecutive reads by a peer are counted as a single event without losing information.
@Suite struct AuditReadTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  /// - Parameter second: The time since the server started. The wall clock may differ.
  private func read(
    _ name: AuditEvent.Name = .dataRead, by peer: String = "a", kind: String = "", _ detail: [String: String] = [:],
    at second: Int64, session: Int64 = 1, clock: Int64? = nil, in other: HealthStore? = nil
  ) async throws {
    let detail = detail.merging(["id": peer]) { $1 }
    try await (other ?? store).audit.record(
      AuditRead(
        AuditEvent(name, detail, time: Timestamp(seconds: clock ?? second)), by: peer, kind: kind,
        at: .init(session: session, elapsed: second * 1000)))
  }

  private func read(_ detail: [String: String], at second: Int64) async throws {
    try await read(.dataRead, detail, at: second)
  }

  /// Returns the log as in `hpeer audit`: events and counts, in parentheses if they aren't in the chain yet.
  private func log(_ store: HealthStore? = nil) async throws -> [String] {
    let (records, open) = try await (store ?? self.store).audit.log()
    return records.map { "\($0.event) \($0.times)" } + open.map { "(\($0.event) \($0.times))" }
  }

  private func damage() async throws -> [AuditDamage] {
    guard case .broken(let damage) = try await store.audit.verify() else { return [] }
    return damage
  }

  @Test func theFirstOfAMinuteIsAnEventAndTheOthersAreCounted() async throws {
    for second in 0..<60 {
      try await read(["count": "2", "from": "\(second)", "to": "\(second + 9)"], at: Int64(second))
    }
    #expect(try await log() == ["data.read 1", "(data.read 59)"])
    let open = try #require(try await store.audit.log().open.first)
    #expect(open.id == 0)
    #expect(open.time == Timestamp(seconds: 59))
    #expect(open.detail == ["id": "a", "count": "118", "from": "1", "to": "68", "times": "59"])
    #expect(try await store.audit.verify() == .intact(rows: 1))
    try await read(["count": "2", "from": "0", "to": "1"], at: 60)
    #expect(try await log() == ["data.read 1", "data.read 59", "data.read 1"])
    #expect(try await store.audit.records()[1].detail == open.detail)
    #expect(try await store.audit.verify() == .intact(rows: 3))
  }

  @Test func oneThatWasCountedAloneIsAnEventLikeAnyOther() async throws {
    try await read(["offset": "0"], at: 0)
    try await read(["offset": "500"], at: 1)
    try await store.audit.record(AuditEvent(.serverStopped))
    #expect(
      try await store.audit.records().map(\.detail) == [
        ["id": "a", "offset": "0"], ["id": "a", "offset": "500"], [:],
      ])
  }

  @Test func peersAndKindsAreCountedApartInOneMinuteOfThePeer() async throws {
    for second in 0..<20 as Range<Int64> {
      try await read(at: second)
      try await read(.digestRead, at: second + 20)
      try await read(by: "b", at: second)
      try await read(.personCompared, kind: second % 2 == 0 ? " same" : " other", at: second)
    }
    #expect(try await store.audit.records().count == 5)
    try await store.audit.sealReads(overAt: .init(session: 1, elapsed: 60_000))
    #expect(try await store.audit.log().open.isEmpty)
    let times = try await store.audit.records().map { ($0.detail["id"] ?? "", $0.event, $0.times) }
    #expect(times.count == 10)
    #expect(times.filter { $0.0 == "a" && $0.1 == "digest.read" }.map(\.2) == [1, 19])
    #expect(times.filter { $0.0 == "b" }.map(\.2) == [1, 19])
    #expect(times.filter { $0.1 == "person.compared" }.map(\.2).sorted() == [1, 1, 9, 9])
    #expect(try await store.audit.verify() == .intact(rows: 10))
  }

  @Test func aMinuteThatRunsIsNotSealed() async throws {
    try await read(at: 0)
    try await read(at: 1)
    try await read(by: "b", at: 30)
    try await read(by: "b", at: 31)
    try await store.audit.sealReads(overAt: .init(session: 1, elapsed: 59_999))
    #expect(try await store.audit.log().open.count == 2)
    try await store.audit.sealReads(overAt: .init(session: 1, elapsed: 60_000))
    #expect(try await store.audit.log().open.map { $0.detail["id"] } == ["b"])
    // One that began in vain is over, too.
    try await read(at: 60)
    try await store.audit.sealReads(overAt: .init(session: 1, elapsed: 120_000))
    #expect(try await store.audit.records().count == 5)
    #expect(try await store.audit.verify() == .intact(rows: 5))
  }

  @Test func readsThatOvertakeOneAnotherAreOfOneMinute() async throws {
    for second in [9, 8, 7, 3, 5, 1] as [Int64] { try await read(at: second) }
    #expect(try await log() == ["data.read 1", "(data.read 5)"])
  }

  @Test func anyOtherEventComesAfterWhatWasCounted() async throws {
    for second in 0..<3 as Range<Int64> { try await read(at: second) }
    try await store.audit.record(AuditEvent(.tokenRevoked, ["id": "a"]))
    #expect(try await log() == ["data.read 1", "data.read 2", "token.revoked 1"])
    // And the next read is one that is seen.
    try await read(at: 3)
    #expect(try await log().suffix(1) == ["data.read 1"])
    try await store.audit.record(AuditEvent(.serverStopped))
    #expect(try await log().count == 5)
    #expect(try await store.audit.verify() == .intact(rows: 5))
  }

  @Test func aServerThatDiedLeavesWhatItCounted() async throws {
    for second in 50..<53 as Range<Int64> { try await read(at: second) }
    let again = try fixture.again()
    #expect(try await log(again) == ["data.read 1", "(data.read 2)"])
    #expect(try await again.audit.verify() == .intact(rows: 1))
    // The next one's clock begins anew, whatever it shows.
    for second in 50..<53 as Range<Int64> { try await read(at: second, session: 2, in: again) }
    #expect(try await log() == ["data.read 1", "data.read 2", "data.read 1", "(data.read 2)"])
    try await again.audit.record(AuditEvent(.serverStarted))
    #expect(try await log().last == "server.started 1")
    #expect(try await store.audit.verify() == .intact(rows: 5))
  }

  @Test func aClockThatIsPutBackChangesNothing() async throws {
    try await read(at: 0, clock: 1_000_000)
    try await read(at: 1, clock: 5)
    try await read(at: 59, clock: 2_000_000)
    #expect(try await log() == ["data.read 1", "(data.read 2)"])
    try await read(at: 60, clock: 1)
    #expect(try await log() == ["data.read 1", "data.read 2", "data.read 1"])
    #expect(try await store.audit.verify() == .intact(rows: 3))
  }

  @Test func nobodyIsCountedTwiceOrNotAtAllByProcessesThatShareAStore() async throws {
    let other = try fixture.again()
    try await withThrowingTaskGroup { group in
      for number in 0..<120 {
        let store = number % 2 == 0 ? self.store : other
        group.addTask {
          if number % 10 == 9 { return try await store.audit.record(AuditEvent(.imported)) }
          try await read(by: number % 3 == 0 ? "a" : "b", ["count": "1"], at: Int64(number % 50), in: store)
        }
      }
      try await group.waitForAll()
    }
    let (records, open) = try await store.audit.log()
    var (times, count) = (0, 0)
    for read in records + open where read.event == "data.read" {
      times += read.times
      count += Int(read.detail["count"] ?? "") ?? 0
    }
    #expect(times == 108 && count == 108)
    #expect(try await store.audit.verify() == .intact(rows: records.count))
  }

  @Test func aPositionThatIsGoneCountsNothing() async throws {
    try await read(at: 0)
    let page = try await store.feed.codedChanges(since: .zero, limit: 1)
    let moment = AuditRead.Moment(session: 1, elapsed: 1)
    let gone = (anchor: Anchor(change: 9), epoch: page.epoch)
    await #expect(throws: StoreError.anchorOutOfRange) {
      try await store.audit.record(AuditRead(AuditEvent(.dataRead), by: "a", at: moment), at: gone)
    }
    #expect(try await log() == ["data.read 1"])
  }

  // MARK: What is said of several

  @Test(
    arguments: [
      (["types": "a,b"], ["types": "b,c"], ["types": "a,b,c"]), (["types": "a"], [:], [:]),
      (["types": "3"], ["types": "2"], ["types": "3"]), (["from": "7"], ["from": "9"], ["from": "7"]),
      (["to": "7"], ["to": "9"], ["to": "9"]), (["to": "7"], [:], [:]),
      (["count": "7"], ["count": "9"], ["count": "16"]),
      (["complete": "true"], ["complete": "false"], ["complete": "false"]),
      (["complete": "true"], [:], ["complete": "true"]), (["deep": "true"], [:], ["deep": "true"]),
      (["offset": "1"], ["offset": "2"], [:]), (["earliest": "x"], ["earliest": "x"], ["earliest": "x"]),
      (["months": "1...2"], ["months": "1...3"], [:]), (["streams": "1"], [:], ["streams": "1"]),
      (["streams": "2"], ["streams": "1"], ["streams": "3"]),
    ] as [([String: String], [String: String], [String: String])])
  func nothingIsSaidToBeLessThanItWas(one: [String: String], other: [String: String], both: [String: String])
    async throws
  {
    for (second, detail) in [[:], one, other].enumerated() { try await read(detail, at: Int64(second)) }
    var found = try #require(try await store.audit.log().open.first).detail
    found["id"] = nil
    found["times"] = nil
    #expect(found == both)
  }

  @Test func whatIsCountedStaysSmall() async throws {
    for number in 0..<400 { try await read(["types": "aTypeOfTheNumber\(number)"], at: 0) }
    let open = try #require(try await store.audit.log().open.first)
    #expect(open.detail["types"] == nil)
    #expect(open.times == 399)
  }

  // MARK: Tampering

  @Test(
    .enabled(if: SQLiteShell.isAvailable),
    arguments: [
      ("UPDATE auditRead SET times = 1 WHERE peer = 'a'", [.countChanged(peer: "a", event: "data.read")]),
      ("UPDATE auditRead SET times = 0 WHERE peer = 'a'", [.countChanged(peer: "a", event: "data.read")]),
      ("UPDATE auditRead SET detail = '{}' WHERE peer = 'b'", [.countChanged(peer: "b", event: "data.read")]),
      ("UPDATE auditRead SET time = 0 WHERE peer = 'b'", [.countChanged(peer: "b", event: "data.read")]),
      ("UPDATE auditRead SET session = 7 WHERE peer = 'b'", [.countChanged(peer: "b", event: "data.read")]),
      ("UPDATE auditRead SET hash = zeroblob(32) WHERE peer = 'b'", [.countChanged(peer: "b", event: "data.read")]),
      ("UPDATE auditRead SET peer = 'c' WHERE peer = 'b'", [.countChanged(peer: "c", event: "data.read")]),
      ("DELETE FROM auditRead WHERE peer = 'b'", [.countsRewritten]), ("DELETE FROM auditRead", [.countsRewritten]),
      ("UPDATE auditEnds SET readsHash = x''", [.countsRewritten]),
    ] as [(String, [AuditDamage])])
  func tamperingWithACountIsFound(sql: String, expected: [AuditDamage]) async throws {
    for second in 0..<5 as Range<Int64> {
      try await read(at: second)
      try await read(by: "b", at: second)
    }
    #expect(try await store.audit.verify() == .intact(rows: 2))
    try await SQLiteShell.run(sql, on: store.path)
    #expect(try await damage() == expected)
    // Only what is counted matters, not the hash beside it.
    if sql.contains("SET hash") { return }
    // Neither a later read nor the end of the minute covers it.
    for peer in ["a", "b"] { try await read(by: peer, at: 6) }
    #expect(try await !damage().isEmpty)
    try await store.audit.record(AuditEvent(.serverStarted))
    #expect(try await damage() == [.countsRewritten])
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func aCountThatWasPutBackIsFound() async throws {
    let path = store.path
    for second in 0..<3 as Range<Int64> { try await read(at: second) }
    try await SQLiteShell.run("CREATE TABLE kept AS SELECT * FROM auditRead", on: path)
    for second in 3..<9 as Range<Int64> { try await read(at: second) }
    try await SQLiteShell.run("DELETE FROM auditRead; INSERT INTO auditRead SELECT * FROM kept", on: path)
    #expect(try await damage() == [.countsRewritten])
  }
}
