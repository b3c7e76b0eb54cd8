import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

@Suite struct TombstoneTests {
  let fixture: StoreFixture
  let sample: Sample
  var store: HealthStore { fixture.store }

  init() throws {
    fixture = try StoreFixture()
    var maker = SampleMaker(seed: 1)
    sample = maker.steps(at: 0)
  }

  private func expectDeleted() async throws {
    #expect(try await store.allChanges() == [.deleted(sample.tombstone())])
    #expect(try await store.samples.typeCounts() == [])
    #expect(try await store.samples.sample(sample.reference) == nil)
  }

  @Test func deletesASample() async throws {
    try await store.add(sample)
    let summary = try await store.apply(ChangeBatch(deletions: [sample.tombstone()]))
    #expect(summary.total == .init(deleted: 1))
    try await expectDeleted()
  }

  @Test func winsAgainstALaterAddition() async throws {
    try await store.add(sample)
    try await store.delete(sample)
    let summary = try await store.apply(ChangeBatch(additions: [sample]))
    #expect(summary.total == .init(refused: 1))
    try await expectDeleted()
  }

  @Test func winsAgainstASampleThatWasNeverSeen() async throws {
    try await store.delete(sample)
    try await store.add(sample)
    try await expectDeleted()
  }

  @Test func winsWithinOneBatch() async throws {
    let summary = try await store.apply(ChangeBatch(additions: [sample], deletions: [sample.tombstone()]))
    #expect(summary.added == 0)
    try await expectDeleted()
  }

  @Test func winsWithinOneBatchAgainstASampleThatIsHere() async throws {
    try await store.add(sample)
    let summary = try await store.apply(ChangeBatch(additions: [sample], deletions: [sample.tombstone()]))
    #expect(summary.total == .init(deleted: 1, refused: 1))
    try await expectDeleted()
  }

  @Test func winsInAnotherInstance() async throws {
    let other = try fixture.again()
    try await other.delete(sample)
    try await store.add(sample)
    try await expectDeleted()
  }

  @Test func theEarlierOfTwoTimesCountsEverywhere() async throws {
    let other = try StoreFixture()
    let times = [Timestamp(seconds: 1_720_000_000), Timestamp(seconds: 1_710_000_000)]
    for (store, time) in zip([store, other.store], times) {
      try await store.add(sample)
      try await store.apply(ChangeBatch(deletions: [sample.tombstone(deleted: time)]))
    }
    for (one, another) in [(store, other.store), (other.store, store), (store, other.store)] {
      try await one.apply([another.feed.codedChanges(since: .zero, limit: 10).changes])
    }
    for store in [store, other.store] {
      #expect(try await store.allChanges() == [.deleted(sample.tombstone(deleted: times[1]))])
    }
    #expect(try await store.digests.deep().record == other.store.digests.deep().record)
    // And rest: what is known is not written again.
    let before = try await store.feed.currentAnchor()
    try await store.apply([other.store.feed.codedChanges(since: .zero, limit: 10).changes])
    #expect(try await store.feed.currentAnchor() == before)
  }

  @Test func namesOneSampleOnly() async throws {
    var neighbours: [Sample] = [sample, sample, sample]
    neighbours[0].uuid = UUID()
    neighbours[1].start = Timestamp(microseconds: sample.start.microseconds + 1_000_001)
    neighbours[2].type = SampleType("another")
    try await store.apply(ChangeBatch(additions: neighbours + [sample]))
    try await store.delete(sample)
    #expect(try await store.allChanges() == neighbours.map(Change.added) + [.deleted(sample.tombstone())])
  }

  @Test(arguments: [Timestamp(microseconds: .min), Timestamp(microseconds: .max)])
  func atTheEndsOfTime(instant: Timestamp) async throws {
    var sample = sample
    sample.start = instant
    try await store.add(sample)
    try await store.delete(sample)
    #expect(try await store.allChanges() == [.deleted(sample.tombstone())])
  }
}
