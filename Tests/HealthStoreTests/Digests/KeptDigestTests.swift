import Foundation
import GRDB
import HealthModel
import Testing
import TestSupport

@testable import HealthStore

extension HealthStore {
  /// Stores digests for everything, even for small amounts.
  func keepEverything() async throws {
    #expect(try await digests.keep(step: 3, rest: 0))
  }
}

/// Tests of the stored digests against a computation from scratch.
@Suite struct KeptDigestTests {
  @Test(.timeLimit(.minutes(5)), arguments: 0..<12 as Range<UInt64>)
  func aRandomHistoryNeverMakesThemWrong(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let world = SmallWorld(size: 40, months: 3)
    let file = try StoreFile()
    var open = [try file.open()]
    var copies: [Data] = []
    for step in 0..<120 {
      let place: Comment = "seed \(seed), step \(step)"
      // No reference to a store outlives a step, so that all can be closed.
      switch Int.random(in: 0..<14, using: &random) {
      case 0:
        open = []
        copies.append(try await file.copy())
        open = [try file.open()]
      case 1 where !copies.isEmpty:
        open = []
        try await file.restore(random.pick(copies))
        open = [try file.open()]
      case 2:
        open.append(try file.open())
        if open.count > 3 { open.removeFirst() }
      case 3, 4:
        let size = Int64.random(in: 1...6, using: &random)
        _ = try await random.pick(open).digests.keep(step: size, rest: random.oneIn(2) ? 0 : 5)
      case 5:
        let bounds = [random.pick(world.samples).start, random.pick(world.samples).start].sorted()
        let type = random.pick(world.types)
        _ = try await random.pick(open).samples.delete(type, in: bounds[0]..<bounds[1], step: 2)
      case 6:
        // What a transaction did that was rolled back.
        let batch = world.batch(&random)
        await Self.rollBack(batch, in: random.pick(open))
      case 7:
        try await Self.prune(random.pick(open))
      default:
        let batch = world.batch(&random)
        try await random.pick(open).apply(batch)
      }
      try await Self.compare(random.pick(open), world, &random, isDeep: step % 10 == 0, place)
    }
    let findings = try await HealthStore.checkIntegrity(directory: file.directory.path).findings
    #expect(findings == [], "seed \(seed)")
  }

  private static func rollBack(_ batch: ChangeBatch, in store: HealthStore) async {
    _ = try? await store.write { db in
      var writer = try SampleWriter(db, epochs: store.epochs, now: .now)
      var coder = ChangeCoder()
      for tombstone in batch.deletions { coder.add(tombstone) }
      for sample in batch.additions { try coder.add(sample) }
      try writer.write(coder.changes)
      try writer.finish()
      throw CancellationError()
    }
  }

  /// Prunes old tombstones, which only the tombstone floor reveals.
  private static func prune(_ store: HealthStore) async throws {
    try await store.write { db in
      let floor = try Int64.fetchOne(db, sql: "SELECT MAX(tombstoneFloor, counter - 15) FROM store") ?? 0
      try db.execute(sql: "DELETE FROM tombstone WHERE change <= ?", arguments: [floor])
      try db.execute(sql: "UPDATE store SET tombstoneFloor = ?", arguments: [floor])
    }
  }

  private static func compare(
    _ reader: HealthStore, _ world: SmallWorld, _ random: inout SeededGenerator, isDeep: Bool, _ place: Comment
  ) async throws {
    let changes = try await reader.allChanges()
    #expect(try await reader.digests.current().record == RecordDigest(changes), place)
    let filter = world.filter(&random)
    // The feed knows the sources of what was deleted.
    let some = try await reader.allChanges(filter: SampleFilter(sources: filter.sources))
    #expect(try await reader.digests.current(filter).record == RecordDigest(some, filter: filter), place)
    let months = [random.pick(world.samples), random.pick(world.samples)].map {
      CalendarMonth(containing: $0.start)
    }.sorted()
    let range = months[0]...months[1]
    let expected = RecordDigest(some, filter: filter, months: range)
    #expect(try await reader.digests.current(filter, months: range).record == expected, place)
    if isDeep {
      #expect(try await reader.digests.deep(filter, months: range).record.withoutContents == expected, place)
    }
  }

  /// Several instances store digests at the same time, with deletions between reading and writing.
  @Test(.timeLimit(.minutes(5)))
  func whoeverKeepsAtOnceDoesNotCountTwice() async throws {
    let fixture = try StoreFixture()
    let stores = [fixture.store, try fixture.again(), try fixture.again()]
    var maker = SampleMaker(seed: 9)
    let samples = (0..<600).map { maker.steps(at: $0 * 400) }
    try await fixture.store.apply(ChangeBatch(additions: samples))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for store in stores {
        group.addTask { for _ in 0..<20 { _ = try await store.digests.keep(step: 17, rest: 0) } }
      }
      group.addTask {
        for sample in samples.prefix(150) {
          try await fixture.store.apply(ChangeBatch(deletions: [sample.tombstone()]))
        }
      }
      try await group.waitForAll()
    }
    try await fixture.store.keepEverything()
    let changes = try await fixture.store.allChanges()
    #expect(try await fixture.store.digests.current().record == RecordDigest(changes))
    #expect(try await HealthStore.checkIntegrity(directory: fixture.directory.path).findings == [])
  }

  @Test func littleIsNotWritten() async throws {
    let fixture = try StoreFixture()
    var maker = SampleMaker(seed: 9)
    try await fixture.store.apply(ChangeBatch(additions: (0..<100).map { maker.steps(at: $0) }))
    #expect(try await fixture.store.digests.keep())
    #expect(try await fixture.store.read { try DigestTable.position($0) } == 0)
    #expect(try await fixture.store.digests.current().record.samples.count == 100)
  }

  @Test func aLimitEndsItAndWhatWasDoneIsKept() async throws {
    let fixture = try StoreFixture()
    var maker = SampleMaker(seed: 9)
    try await fixture.store.apply(ChangeBatch(additions: (0..<100).map { maker.steps(at: $0) }))
    #expect(try await fixture.store.digests.keep(for: .zero, step: 30, rest: 0) == false)
    #expect(try await fixture.store.read { try DigestTable.position($0) } == 30)
    var rounds = 0
    while try await !fixture.store.digests.keep(for: .zero, step: 30, rest: 0) { rounds += 1 }
    #expect(rounds == 3)
    #expect(try await fixture.store.read { try DigestTable.position($0) } == 100)
  }

  @Test(.enabled(if: SQLiteShell.isAvailable), .timeLimit(.minutes(5)))
  func aStoreThatIsLockedHasADigest() async throws {
    let fixture = try StoreFixture()
    var maker = SampleMaker(seed: 9)
    try await fixture.store.apply(ChangeBatch(additions: (0..<100).map { maker.steps(at: $0) }))
    let other = try SQLiteSession(fixture.directory.path("store.sqlite"))
    try await other.run("BEGIN IMMEDIATE")
    #expect(try await fixture.store.digests.keep(step: 10, rest: 0))
    #expect(try await fixture.store.digests.current().record.samples.count == 100)
    other.end()
    // Afterwards it waits for others as before.
    #expect(fixture.store.patience.limit == HealthStore.busyTimeout)
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func whatIsKeptAndWrongIsFoundAndMadeAnew() async throws {
    let fixture = try StoreFixture()
    var maker = SampleMaker(seed: 9)
    try await fixture.store.apply(ChangeBatch(additions: (0..<100).map { maker.steps(at: $0) }))
    try await fixture.store.keepEverything()
    let right = try await fixture.store.digests.current()
    try await SQLiteShell.run(
      "UPDATE monthDigest SET samples = samples + 1", on: fixture.directory.path("store.sqlite"))
    #expect(
      try await HealthStore.checkIntegrity(directory: fixture.directory.path).findings == [.wrongDigests(1)])
    #expect(try await fixture.store.digests.current() != right)
    try await fixture.store.digests.forget()
    #expect(try await fixture.store.digests.current() == right)
    #expect(try await HealthStore.checkIntegrity(directory: fixture.directory.path).findings == [])
  }
}
