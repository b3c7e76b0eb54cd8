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
    let (contents, anchor) = (try await store.contents(), try await store.feed.currentAnchor())
    let summary = try await store.apply(batch)
    #expect(summary.total == .init(unchanged: 100, refused: 10))
    #expect(try await store.contents() == contents)
    #expect(try await store.feed.currentAnchor() == anchor)
  }

  @Test func aSampleTwiceInABatchIsOne() async throws {
    var maker = SampleMaker(seed: 3)
    let sample = maker.steps(at: 0)
    let summary = try await store.apply(ChangeBatch(additions: [sample, sample]))
    #expect(summary.added == 1)
    #expect(summary.unchanged == 1)
    #expect(summary.types == [sample.type: .init(added: 1, unchanged: 1)])
    #expect(try await store.feed.currentAnchor() == Anchor(change: 1))
  }

  @Test(arguments: [true, false])
  func theBetterContentOfASampleStays(comesFirst: Bool) async throws {
    var maker = SampleMaker(seed: 3)
    var sample = maker.steps(at: 0)
    let poorer = sample
    sample.metadata["HKWasUserEntered"] = .bool(true)
    for copy in comesFirst ? [sample, poorer] : [poorer, sample] { try await store.add(copy) }
    #expect(try await store.allChanges() == [.added(sample)])
    #expect(try await store.samples.typeCounts() == [TypeCount(type: sample.type, samples: 1)])
  }

  @Test func anEmptyBatchDoesNothing() async throws {
    #expect(try await store.apply(ChangeBatch()) == WriteSummary())
    #expect(try await store.feed.currentAnchor() == .zero)
  }

  @Test func aBlockingWriteIsTheSame() async throws {
    var maker = SampleMaker(seed: 3)
    let samples = maker.samples(50)
    let summary = try store.applyBlocking(ChangeBatch(additions: samples))
    #expect(summary.added == 50)
    #expect(summary.types.values.reduce(0) { $0 + $1.added } == 50)
    #expect(try await store.allChanges().count == 50)
  }

  @Test func summariesAddUp() {
    var sum = WriteSummary()
    sum.add(.init(added: 1, deleted: 2, unchanged: 3), of: SampleType("a"))
    var other = WriteSummary()
    other.add(.init(added: 2), of: SampleType("a"))
    other.add(.init(added: 1), of: SampleType("b"))
    other.add(.init(), of: SampleType("c"))
    sum += other
    #expect(sum.total == .init(added: 4, deleted: 2, unchanged: 3))
    #expect(
      sum.types == [
        SampleType("a"): .init(added: 3, deleted: 2, unchanged: 3), SampleType("b"): .init(added: 1),
      ])
  }
}
