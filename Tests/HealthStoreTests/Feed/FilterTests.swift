import HealthModel
import HealthStore
import Testing
import TestSupport

@Suite struct FilterTests {
  let fixture: StoreFixture
  let samples: [Sample]
  private let heartRate = SampleType("HKQuantityTypeIdentifierHeartRate")
  var store: HealthStore { fixture.store }

  /// Creates a store with ten minutes of steps and heart rates. The samples of minute 4 are deleted.
  init() async throws {
    fixture = try StoreFixture()
    var maker = SampleMaker(seed: 1)
    var samples: [Sample] = []
    for minute in 0..<10 {
      samples.append(maker.steps(at: minute))
      var sample = maker.steps(at: minute)
      sample.type = heartRate
      samples.append(sample)
    }
    self.samples = samples
    try await fixture.store.apply(ChangeBatch(additions: samples))
    try await fixture.store.delete(samples[8], samples[9])
  }

  private func expected(_ accepts: (SampleReference) -> Bool) async throws -> [Change] {
    try await store.allChanges().filter { accepts($0.reference) }
  }

  @Test(arguments: [1, 2, 3, 100])
  func byType(limit: Int) async throws {
    let read = try await store.allChanges(filter: SampleFilter(types: [heartRate]), limit: limit)
    #expect(read == (try await expected { $0.type == heartRate }))
    #expect(read.count == 10)
  }

  @Test(arguments: [1, 2, 3, 100])
  func byStart(limit: Int) async throws {
    let earliest = samples[8].start
    let read = try await store.allChanges(filter: SampleFilter(earliest: earliest), limit: limit)
    #expect(read == (try await expected { $0.start >= earliest }))
    #expect(read.count == 12)
  }

  @Test(arguments: [1, 2, 3, 100])
  func byEnd(limit: Int) async throws {
    let end = samples[8].start
    let read = try await store.allChanges(filter: SampleFilter(end: end), limit: limit)
    #expect(read == (try await expected { $0.start < end }))
    #expect(read.count == 8)
  }

  @Test func byBoth() async throws {
    let filter = SampleFilter(types: [heartRate], earliest: samples[10].start)
    let read = try await store.allChanges(filter: filter)
    #expect(read == (try await expected { $0.type == heartRate && $0.start >= samples[10].start }))
    #expect(read.count == 5)
  }

  @Test func anUnknownTypeHasNoChanges() async throws {
    let page = try await store.feed.changes(
      since: .zero, filter: SampleFilter(types: [SampleType("never seen")]), limit: 10)
    #expect(page.changes.isEmpty && page.isLast)
    #expect(page.anchor == (try await store.feed.currentAnchor()))
  }

  @Test func anUnknownTypeAmongKnownOnesIsNoHindrance() async throws {
    let filter = SampleFilter(types: [heartRate, SampleType("never seen")])
    #expect(try await store.allChanges(filter: filter).count == 10)
  }

  @Test func noTypesIsNothing() async throws {
    #expect(try await store.allChanges(filter: SampleFilter(types: [])) == [])
  }

  @Test func theEarliestInstantIsNoBound() async throws {
    let filter = SampleFilter(earliest: Timestamp(microseconds: .min))
    #expect(try await store.allChanges(filter: filter) == store.allChanges())
    #expect(try await store.allChanges(filter: SampleFilter(earliest: Timestamp(microseconds: .max))) == [])
  }

  @Test func aTypeOfTomorrowIsFilteredByItsOwnName() async throws {
    var sample = samples[0]
    sample.type = SampleType("HKQuantityTypeIdentifierOf'Tomorrow\" 😴")
    try await store.add(sample)
    #expect(try await store.allChanges(filter: SampleFilter(types: [sample.type])) == [.added(sample)])
  }

  @Test func whatPassesTwoFiltersPassesTheirIntersection() {
    let (a, b) = (SampleType("a"), SampleType("b"))
    let (early, late) = (Timestamp(seconds: 1), Timestamp(seconds: 2))
    let filter = SampleFilter(types: [a, b], earliest: early)
    #expect(filter.intersection(.everything) == filter)
    #expect(SampleFilter.everything.intersection(filter) == filter)
    #expect(filter.intersection(SampleFilter(types: [b], earliest: late)) == SampleFilter(types: [b], earliest: late))
    #expect(SampleFilter(types: [a]).intersection(SampleFilter(types: [b])) == SampleFilter(types: []))
    #expect(SampleFilter(earliest: late).intersection(SampleFilter(earliest: early)).earliest == late)
  }

  @Test func theExpectedNumberOfChangesIsEnough() async throws {
    for filter in [
      .everything, SampleFilter(types: [heartRate]), SampleFilter(types: []),
      SampleFilter(earliest: samples[12].start), SampleFilter(types: [SampleType("never seen")]),
    ] {
      for change in 0...22 {
        let anchor = Anchor(change: Int64(change))
        let actual = try await store.allChanges(since: anchor, filter: filter).count
        let expected = try await store.feed.expectedChanges(since: anchor, filter: filter)
        // More than it may see would tell a reader what else there is.
        #expect(filter == .everything ? expected >= actual : expected == actual)
      }
    }
    #expect(try await store.feed.expectedChanges(since: .zero, filter: .everything) == 20)
    #expect(try await store.feed.expectedChanges(since: Anchor(change: 22), filter: .everything) == 0)
  }

  @Test(arguments: [Int64.min, -1, 23, .max])
  func aPositionOfAnotherStoreExpectsNoNegativeNumber(change: Int64) async throws {
    #expect(try await store.feed.expectedChanges(since: Anchor(change: change), filter: .everything) >= 0)
  }
}
