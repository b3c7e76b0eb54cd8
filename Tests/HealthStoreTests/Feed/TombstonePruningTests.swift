import HealthModel
import HealthStore
import Testing
import TestSupport

@Suite struct TombstonePruningTests {
  let fixture: StoreFixture
  let samples: [Sample]
  var store: HealthStore { fixture.store }

  init() throws {
    fixture = try StoreFixture()
    var maker = SampleMaker(seed: 1)
    samples = (0..<6).map { maker.steps(at: $0) }
  }

  private func instant(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds) }

  /// Adds six samples as changes 1 to 6 and deletes the first four as changes 7 to 10, in an order that differs from
  /// their deletion times.
  private func history() async throws {
    try await store.apply(ChangeBatch(additions: samples))
    for (index, seconds) in [(0, 100), (1, 400), (2, 200), (3, 300)] as [(Int, Int64)] {
      try await store.apply(ChangeBatch(deletions: [samples[index].tombstone(deleted: instant(seconds))]))
    }
  }

  @Test func forgetsWhatWasDeletedBeforeAndNothingElse() async throws {
    try await history()
    #expect(try await store.feed.pruneTombstones(before: instant(300)) == 2)
    #expect(
      try await store.allChanges() == samples[4...].map(Change.added) + [
        .deleted(samples[1].tombstone(deleted: instant(400))), .deleted(samples[3].tombstone(deleted: instant(300))),
      ])
    #expect(try await store.samples.typeCounts() == [TypeCount(type: SampleMaker.stepCount, samples: 2)])
    // What is forgotten is not forgotten again.
    #expect(try await store.feed.pruneTombstones(before: instant(300)) == 0)
    #expect(try await store.feed.pruneTombstones(before: Timestamp(microseconds: .max)) == 2)
    #expect(try await store.allChanges() == samples[4...].map(Change.added))
  }

  @Test func onlyPositionsFromTheLastForgottenOneOnContinue() async throws {
    try await history()
    try await store.feed.pruneTombstones(before: instant(300))
    for change in 1...8 as ClosedRange<Int64> {
      await #expect(throws: StoreError.anchorOutOfRange, "\(change)") {
        try await store.feed.changes(since: Anchor(change: change), limit: 10)
      }
    }
    for (change, left) in [(0, 4), (9, 1), (10, 0)] as [(Int64, Int)] {
      #expect(try await store.feed.changes(since: Anchor(change: change), limit: 10).changes.count == left, "\(change)")
    }
  }

  private func position(after count: Int) async throws -> (anchor: Anchor, epoch: Epoch) {
    let page = try await store.feed.changes(since: .zero, limit: count)
    return (page.anchor, page.epoch)
  }

  @Test func aReaderThatStartsOverComesToTheEndPageByPage() async throws {
    try await history()
    let before = try await position(after: 1)
    try await store.feed.pruneTombstones(before: instant(300))
    await #expect(throws: StoreError.anchorOutOfRange) {
      try await store.feed.changes(since: before.anchor, epoch: before.epoch, limit: 1)
    }
    var changes: [Change] = []
    var (anchor, epoch) = (Anchor.zero, Epoch?.none)
    while true {
      let page = try await store.feed.changes(since: anchor, epoch: epoch, limit: 1)
      changes += page.changes
      (anchor, epoch) = (page.anchor, page.epoch)
      if page.isLast { break }
    }
    #expect(try await changes == store.allChanges())
    #expect(changes.count == 4)
  }

  @Test func aReaderThatHasSeenAllThatIsForgottenGoesOn() async throws {
    try await history()
    let end = try await position(after: 100)
    try await store.feed.pruneTombstones(before: Timestamp(microseconds: .max))
    try await store.apply(ChangeBatch(deletions: [samples[5].tombstone()]))
    let later = try await position(after: 100)
    #expect(try await store.feed.changes(since: end.anchor, epoch: end.epoch, limit: 10).changes.count == 1)
    // Also with what another process has written since.
    let other = try fixture.again()
    try await other.apply(ChangeBatch(deletions: [samples[4].tombstone()]))
    #expect(try await store.feed.changes(since: end.anchor, epoch: end.epoch, limit: 10).changes.count == 2)
    #expect(try await store.feed.changes(since: later.anchor, epoch: later.epoch, limit: 10).changes.count == 1)
  }

  @Test func readersThatBeganBetweenTwoPruningsStartOverAgain() async throws {
    try await history()
    try await store.feed.pruneTombstones(before: instant(150))
    let between = try await position(after: 1)
    #expect(try await store.feed.changes(since: between.anchor, epoch: between.epoch, limit: 10).changes.count == 4)
    try await store.feed.pruneTombstones(before: instant(250))
    await #expect(throws: StoreError.anchorOutOfRange) {
      try await store.feed.changes(since: between.anchor, epoch: between.epoch, limit: 10)
    }
  }

  @Test func theFloorNeverSinks() async throws {
    try await history()
    try await store.feed.pruneTombstones(before: instant(300))
    // Earlier by its clock, and later by its number, than those which are gone; then one that moves nothing.
    try await store.apply(ChangeBatch(deletions: [samples[4].tombstone(deleted: instant(50))]))
    try await store.feed.pruneTombstones(before: instant(10))
    #expect(try await store.feed.changes(since: Anchor(change: 9), limit: 10).changes.count == 2)
    try await store.feed.pruneTombstones(before: instant(60))
    await #expect(throws: StoreError.anchorOutOfRange) {
      try await store.feed.changes(since: Anchor(change: 10), limit: 10)
    }
    #expect(try await store.feed.changes(since: Anchor(change: 11), limit: 10).changes.isEmpty)
  }

  @Test func withNothingToForgetNoPositionIsLost() async throws {
    try await history()
    #expect(try await store.feed.pruneTombstones(before: instant(100)) == 0)
    #expect(try await store.feed.pruneTombstones(before: Timestamp(microseconds: .min)) == 0)
    #expect(try await store.feed.changes(since: Anchor(change: 1), limit: 10).changes.count == 6)
  }

  @Test func otherInstancesSeeTheFloorAtOnce() async throws {
    let other = try fixture.again()
    try await history()
    let page = try await other.feed.changes(since: .zero, limit: 1)
    try await store.feed.pruneTombstones(before: instant(300))
    await #expect(throws: StoreError.anchorOutOfRange) {
      try await other.feed.changes(since: page.anchor, epoch: page.epoch, limit: 10)
    }
    #expect(try await other.feed.changes(since: .zero, limit: 10).changes.count == 4)
  }

  /// This is the documented risk of pruning.
  @Test func aForgottenSampleCanComeBack() async throws {
    try await history()
    #expect(try await store.apply(ChangeBatch(additions: [samples[0]])).added == 0)
    try await store.feed.pruneTombstones(before: Timestamp(microseconds: .max))
    #expect(try await store.apply(ChangeBatch(additions: [samples[0]])).added == 1)
    #expect(try await store.samples.sample(samples[0].reference) == samples[0])
  }
}
