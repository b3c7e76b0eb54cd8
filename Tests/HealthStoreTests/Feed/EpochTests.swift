import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// A position and its epoch, as a reader stores them.
struct Position {
  var anchor = Anchor.zero
  var epoch: Epoch?
}

@Suite(.timeLimit(.minutes(5))) struct EpochTests {
  let file: StoreFile
  private let samples: [Sample]

  init() throws {
    file = try StoreFile()
    var maker = SampleMaker(seed: 1)
    samples = (0..<40).map { maker.steps(at: $0) }
  }

  private func position(_ store: HealthStore) async throws -> Position {
    let page = try await store.feed.changes(since: .zero, limit: 1000)
    return Position(anchor: page.anchor, epoch: page.epoch)
  }

  private func changes(_ store: HealthStore, _ position: Position) async throws -> [Change] {
    try await store.feed.changes(since: position.anchor, epoch: position.epoch, limit: 1000).changes
  }

  private func expectRefused(_ store: HealthStore, _ position: Position) async throws {
    await #expect(throws: StoreError.anchorOutOfRange) { try await changes(store, position) }
  }

  private func write(_ range: Range<Int>) async throws -> Position {
    let store = try file.open()
    for sample in samples[range] { try await store.add(sample) }
    return try await position(store)
  }

  @Test func aPositionAfterTheCopyIsRefusedOnceItsNumberIsTakenAgain() async throws {
    let atCopy = try await write(0..<5)
    let copy = try await file.copy()
    let afterCopy = try await write(5..<10)
    try await file.restore(copy)

    let store = try file.open()
    // Nothing has been written: what came up to the copy is known, what came after it is not.
    #expect(try await changes(store, atCopy).isEmpty)
    try await expectRefused(store, afterCopy)
    for sample in samples[20..<30] { try await store.add(sample) }
    try await expectRefused(store, afterCopy)
    // The last number before the new epoch is common to both.
    #expect(try await changes(store, atCopy) == samples[20..<30].map(Change.added))
    try await expectRefused(store, Position(anchor: Anchor(change: 6), epoch: atCopy.epoch))
  }

  @Test func theBeginningIsAlwaysAPosition() async throws {
    _ = try await write(0..<5)
    let store = try file.open()
    #expect(try await changes(store, Position()).count == 5)
    let page = try await store.feed.changes(since: .zero, limit: 1)
    #expect(try await changes(store, Position(anchor: page.anchor, epoch: page.epoch)).count == 4)
  }

  @Test func positionsLastBeyondTheProcessThatGaveThem() async throws {
    var position = try await write(0..<5)
    for round in 1..<6 {
      _ = try await write(round * 5..<round * 5 + 5)
      let store = try file.open()
      #expect(try await changes(store, position).count == 5)
      position = try await self.position(store)
    }
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func writersThatTakeTurnsShareAnEpochAndIdleOnesBeginNone() async throws {
    let (one, other) = (try file.open(), try file.open())
    for index in 0..<40 { try await (index % 2 == 0 ? one : other).add(samples[index]) }
    #expect(try await SQLiteShell.run("SELECT first FROM epoch", on: file.path) == "0\n1")
    // What changes nothing takes no number.
    try await file.open().apply(ChangeBatch(additions: samples))
    #expect(try await SQLiteShell.run("SELECT COUNT(*) FROM epoch", on: file.path) == "2")
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func aCopyThatIsPutBackUnderARunningProcessIsNoticed() async throws {
    let store = try file.open()
    for sample in samples[0..<5] { try await store.add(sample) }
    let atCopy = try await position(store)
    let copy = file.directory.path("copy.sqlite")
    try await SQLiteShell.run("VACUUM INTO '\(copy)'", on: file.path)
    for sample in samples[5..<10] { try await store.add(sample) }
    let afterCopy = try await position(store)
    try await SQLiteShell.run(".restore \(copy)", on: file.path)
    for sample in samples[20..<30] { try await store.add(sample) }
    try await expectRefused(store, afterCopy)
    #expect(try await changes(store, atCopy) == samples[20..<30].map(Change.added))
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func theTableOfEpochsDoesNotGrowWithoutBound() async throws {
    let start = try await write(0..<1)
    try await file.waitUntilClosed()
    try await SQLiteShell.run(
      """
      WITH RECURSIVE n(i) AS (VALUES(2) UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      INSERT INTO epoch SELECT i, randomblob(8) FROM n;
      UPDATE store SET counter = 10000
      """, on: file.path)
    let (early, late) = try await { () async throws -> (Position, Position) in
      let store = try file.open()
      let end = try await position(store)
      #expect(try await changes(store, start).isEmpty)
      return (start, end)
    }()
    let store = try file.open()
    try await store.add(samples[1])
    let count = try #require(Int(try await SQLiteShell.run("SELECT COUNT(*) FROM epoch", on: file.path)))
    #expect(count < 6_000)
    #expect(try await SQLiteShell.run("SELECT MIN(first) FROM epoch", on: file.path) == "0")
    try await expectRefused(store, early)
    #expect(try await changes(store, late) == [.added(samples[1])])
  }
}
