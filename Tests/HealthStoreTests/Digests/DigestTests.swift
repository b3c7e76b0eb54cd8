import Foundation
import HealthModel
import Testing
import TestSupport

@testable import HealthStore

extension RecordDigest {
  /// Computes a digest of the feed from scratch.
  init(_ changes: [Change], filter: SampleFilter = .everything, months: ClosedRange<CalendarMonth>? = nil) {
    var byType: [SampleType: [CalendarMonth: MonthDigest]] = [:]
    for change in changes where filter.accepts(change.reference) {
      let reference = change.reference
      let month = CalendarMonth(containing: reference.start)
      guard months?.contains(month) ?? true else { continue }
      var hasher = IdentityHasher(reference.type)
      var digest =
        byType[reference.type]?[month] ?? MonthDigest(month: month, samples: .empty, tombstones: .empty)
      switch change {
      case .added(let sample): digest.samples.insert(hasher.sample(sample))
      case .deleted(let tombstone): digest.tombstones.insert(hasher.tombstone(tombstone.sample))
      }
      byType[reference.type, default: [:]][month] = digest
    }
    self.init(
      types: byType.map { type, months in
        TypeDigest(type: type, months: months.values.sorted { $0.month < $1.month })
      }.sorted { SampleType.utf8Order($0.type, $1.type) })
  }
}

@Suite struct DigestTests {
  @Test func nothingHasNone() async throws {
    let storeFixture = try StoreFixture()
    let store = storeFixture.store
    #expect(try await store.digests.current().record.types.isEmpty)
    #expect(try await store.digests.keep())
    #expect(try await store.digests.current(SampleFilter(types: [])).record.types.isEmpty)
    #expect(try await store.digests.deep(SampleFilter(types: [SampleMaker.stepCount])).record.types.isEmpty)
  }

  @Test func ofSomeSourcesItIsThatOfAStoreWithNoOthers() async throws {
    let (wholeFixture, partFixture) = (try StoreFixture(), try StoreFixture())
    let (whole, part) = (wholeFixture.store, partFixture.store)
    let world = SmallWorld(size: 40, months: 3)
    let filter = SampleFilter(sources: [SmallWorld.sources[0]])
    let some = world.samples.filter(filter.passes)
    try await whole.apply(ChangeBatch(additions: world.samples))
    try await part.apply(ChangeBatch(additions: some))
    for store in [whole, part] {
      try await store.apply(
        ChangeBatch(
          deletions: [some[0], some[5]].map { Tombstone(of: $0, deleted: Timestamp(seconds: 1_720_000_000)) }))
      #expect(try await store.digests.keep(step: 7, rest: 0))
    }
    let months = CalendarMonth(containing: some[1].start)...CalendarMonth(containing: some[1].start)
    for months in [nil, months] {
      #expect(
        try await whole.digests.current(filter, months: months).record == part.digests.current(months: months).record)
      #expect(try await whole.digests.deep(filter, months: months).record == part.digests.deep(months: months).record)
    }
    #expect(try await whole.digests.current(filter).record.samples.count == some.count - 2)
  }

  @Test func theOrderInWhichThingsHappenedDoesNotMatter() async throws {
    var maker = SampleMaker(seed: 5)
    let samples = maker.samples(200)
    let (oneFixture, twoFixture) = (try StoreFixture(), try StoreFixture())
    let (one, two) = (oneFixture.store, twoFixture.store)
    try await one.apply(ChangeBatch(additions: samples, deletions: samples.prefix(20).map { $0.tombstone() }))
    for sample in samples.reversed() { try await two.add(sample) }
    #expect(try await one.digests.current().record != two.digests.current().record)
    try await two.apply(ChangeBatch(deletions: samples.prefix(20).map { $0.tombstone(deleted: .now) }))
    #expect(try await one.digests.current().record == two.digests.current().record)
    #expect(try await one.digests.deep().record == two.digests.deep().record)
    #expect(try await one.digests.current().record.samples.count == 180)
    #expect(try await one.digests.current().record.tombstones.count == 20)
  }

  @Test func anythingOfAnIdentityThatIsOtherShows() async throws {
    var maker = SampleMaker(seed: 5)
    let sample = maker.steps(at: 0)
    let changes: [(inout Sample) -> Void] = [
      { $0.type = SampleType("HKQuantityTypeIdentifierHeartRate") }, { $0.start.microseconds += 1 },
      { $0.end.microseconds += 1 }, { $0.uuid = UUID() },
    ]
    let fixture = try StoreFixture()
    try await fixture.store.add(sample)
    let digest = try await fixture.store.digests.current().record
    for (number, change) in changes.enumerated() {
      var other = sample
      change(&other)
      let storeFixture = try StoreFixture()
      let store = storeFixture.store
      try await store.add(other)
      let theirs = try await store.digests.current().record
      #expect(theirs != digest, "\(number)")
      #expect(theirs.samples.count == 1)
    }
  }

  @Test func whatASampleSaysShowsInTheDeepOneOnly() async throws {
    var maker = SampleMaker(seed: 5)
    let sample = maker.steps(at: 0)
    let changes: [(inout Sample) -> Void] = [
      { $0.created = Timestamp(seconds: 1) }, { $0.source.name += "\u{A0}" }, { $0.source.version = "" },
      { $0.device = Device() }, { $0.device = Device(text: "") }, { $0.metadata = ["a": "b"] },
      { $0.metadata = ["a": .integer(1)] }, { $0.metadata = ["a": .number(1)] }, { $0.metadata = ["a": .bool(true)] },
      { $0.metadata = ["é": "x"] }, { $0.metadata = ["e\u{301}": "x"] },
      { $0.payload = .quantity(Quantity(0.5, "count")) }, { $0.payload = .quantity(Quantity(.nan, "count")) },
      { $0.payload = .quantity(Quantity(0.5, "")) }, { $0.payload = .category(CategoryValue(value: 1)) },
      { $0.payload = .unknown(kind: "a", content: .null) }, { $0.payload = .unknown(kind: "b", content: .null) },
      { $0.payload = .unknown(kind: "a", content: .array([.array([]), .null])) },
      { $0.payload = .unknown(kind: "a", content: .array([.array([.null])])) },
    ]
    let storeFixture = try StoreFixture()
    let store = storeFixture.store
    try await store.add(sample)
    let digest = try await store.digests.current().record
    var seen: Set<RecordDigest> = [try await store.digests.deep().record]
    for (number, change) in changes.enumerated() {
      var other = sample
      change(&other)
      let storeFixture = try StoreFixture()
      let store = storeFixture.store
      try await store.add(other)
      #expect(try await store.digests.current().record == digest, "\(number)")
      let deep = try await store.digests.deep().record
      #expect(deep.withoutContents == digest)
      #expect(seen.insert(deep).inserted, "\(number)")
    }
  }

  @Test func aDigestHoldsForItsPosition() async throws {
    var maker = SampleMaker(seed: 5)
    let storeFixture = try StoreFixture()
    let store = storeFixture.store
    for minute in 0..<5 { try await store.add(maker.steps(at: minute)) }
    let digest = try await store.digests.current(SampleFilter(types: []))
    let page = try await store.feed.changes(since: .zero, limit: 100)
    #expect(digest.anchor == page.anchor)
    #expect(digest.epoch == page.epoch)
    let deep = try await store.digests.deep(SampleFilter(types: []))
    #expect(deep == digest)
  }

  @Test func aReadingThatIsReplacedLeavesNothing() async throws {
    let (storeFixture, otherFixture) = (try StoreFixture(), try StoreFixture())
    let (store, other) = (storeFixture.store, otherFixture.store)
    func summary(_ energy: String, created: Int64) -> Sample {
      var sample = Sample(
        uuid: UUID(), type: .activitySummary, start: Timestamp(seconds: 86_400), end: Timestamp(seconds: 172_800),
        created: Timestamp(seconds: created), source: Source(name: "Health"),
        payload: .activitySummary(ActivitySummary(date: "1970-01-02", attributes: ["activeEnergyBurned": energy])))
      sample.uuid = SampleIdentity.uuid(ofReading: sample)
      return sample
    }
    try await store.add(readings: [summary("100", created: 1)])
    try await store.digests.forget()
    try await store.keepEverything()
    try await store.add(readings: [summary("200", created: 2)])
    let digest = try await store.digests.current().record
    #expect(digest.samples.count == 1 && digest.tombstones.count == 0)
    for change in try await store.allChanges() { try await other.take(change) }
    #expect(try await other.digests.current().record == digest)
  }
}
