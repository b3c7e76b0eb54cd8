import HealthModel
import HealthStore
import Testing
import TestSupport

@Suite struct WritingTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  @Test func theSameBatchAgainChangesNothing() async throws {
    var maker = SampleMaker(seed: 3)
    let samples = maker.samples(100)
    let batch = ChangeBatch(additions: samples, deletions: samples.prefix(10).map { $0.tombstone() })
    try await store.apply(batch)
    let (contents, anchor) = (try await store.contents(), try await store.currentAnchor())
    let summary = try await store.apply(batch)
    #expect(summary == WriteSummary(unchanged: 110))
    #expect(try await store.contents() == contents)
    #expect(try await store.currentAnchor() == anchor)
  }

  @Test func aSampleTwiceInABatchIsOne() async throws {
    var maker = SampleMaker(seed: 3)
    let sample = maker.steps(at: 0)
    let summary = try await store.apply(ChangeBatch(additions: [sample, sample]))
    #expect(summary.added == 1)
    #expect(summary.unchanged == 1)
    #expect(summary.addedByType == [sample.type: 1])
    #expect(try await store.currentAnchor() == Anchor(change: 1))
  }

  @Test func theFirstContentOfASampleStays() async throws {
    var maker = SampleMaker(seed: 3)
    let sample = maker.steps(at: 0)
    var other = sample
    other.payload = .quantity(Quantity(-1, "count"))
    try await store.add(sample)
    try await store.add(other)
    #expect(try await store.allChanges() == [.added(sample)])
  }

  @Test func anEmptyBatchDoesNothing() async throws {
    #expect(try await store.apply(ChangeBatch()) == WriteSummary())
    #expect(try await store.currentAnchor() == .zero)
  }

  @Test func aBlockingWriteIsTheSame() async throws {
    var maker = SampleMaker(seed: 3)
    let samples = maker.samples(50)
    let summary = try store.applyBlocking(ChangeBatch(additions: samples))
    #expect(summary.added == 50)
    #expect(summary.addedByType.values.reduce(0, +) == 50)
    #expect(try await store.allChanges().count == 50)
  }

  @Test func summariesAddUp() {
    var sum = WriteSummary(added: 1, deleted: 2, unchanged: 3)
    sum.addedByType = [SampleType("a"): 1]
    var other = WriteSummary(added: 3)
    other.addedByType = [SampleType("a"): 2, SampleType("b"): 1]
    sum += other
    #expect(sum.added == 4)
    #expect(sum.deleted == 2)
    #expect(sum.unchanged == 3)
    #expect(sum.addedByType == [SampleType("a"): 3, SampleType("b"): 1])
  }
}
