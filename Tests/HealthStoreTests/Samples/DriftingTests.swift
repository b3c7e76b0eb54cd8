import HealthModel
import HealthStore
import Testing
import TestSupport

@Suite struct DriftingTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  /// What an export at `hour` says about one day.
  private func summary(_ energy: String, at hour: Int, day: Int = 0) -> Sample {
    let start = Timestamp(seconds: 1_704_067_200 + Int64(day) * 86_400)
    var sample = Sample(
      uuid: SampleIdentity.namespace, type: .activitySummary, start: start, end: start,
      created: Timestamp(seconds: start.seconds + Int64(hour) * 3600), source: Source(name: "Health"),
      payload: .activitySummary(ActivitySummary(date: "2024-01-01", attributes: ["activeEnergyBurned": energy])))
    sample.uuid = SampleIdentity.uuid(ofDrifting: sample)
    return sample
  }

  private func present() async throws -> [Sample] {
    try await store.samples.page(of: .activitySummary, limit: 100)
  }

  @Test func aNewerReadingTakesTheOldersPlace() async throws {
    let (old, new) = (summary("100", at: 8), summary("200", at: 9))
    #expect(try await store.replace(drifting: [old]).added == 1)
    let written = try await store.replace(drifting: [new])
    #expect((written.added, written.deleted, written.unchanged) == (1, 1, 0))
    #expect(try await present() == [new])
    let changes = try await store.allChanges()
    #expect(changes.map(\.reference) == [old.reference, new.reference])
    guard case .deleted = changes.first else {
      Issue.record("the older reading has no tombstone")
      return
    }
  }

  @Test func anOlderReadingDoesNothing() async throws {
    let (old, new) = (summary("100", at: 8), summary("200", at: 9))
    try await store.replace(drifting: [new])
    #expect(try await store.replace(drifting: [old]).total == .init(unchanged: 1))
    #expect(try await present() == [new])
    #expect(try await store.feed.currentAnchor() == Anchor(change: 1))
  }

  @Test func aNewerReadingOfTheSameValueDoesNothing() async throws {
    let old = summary("100", at: 8)
    try await store.replace(drifting: [old])
    #expect(try await store.replace(drifting: [summary("100", at: 9)]).total == .init(unchanged: 1))
    #expect(try await present() == [old])
  }

  /// What an earlier version of the reader passed over, or the phone has added since.
  @Test func aNewerReadingWithMoreBesideItsNumbersTakesTheOldersPlace() async throws {
    let old = summary("100", at: 8)
    var new = summary("100", at: 8)
    new.metadata = ["hpeer.element.Ring": "{}"]
    new.uuid = SampleIdentity.uuid(ofDrifting: new)
    #expect(new.uuid != old.uuid)
    try await store.replace(drifting: [old])
    let written = try await store.replace(drifting: [new])
    #expect((written.added, written.deleted, written.unchanged) == (1, 1, 0))
    #expect(try await store.replace(drifting: [new]).total == .init(unchanged: 1))
    #expect(try await present() == [new])
  }

  @Test func aValueThatComesBackIsANewSample() async throws {
    var seen: Set<SampleReference> = []
    for hour in 0..<6 {
      let reading = summary(hour % 2 == 0 ? "100" : "200", at: hour)
      #expect(try await store.replace(drifting: [reading]).added == 1)
      let now = try #require(try await present().first)
      #expect(now.payload == reading.payload)
      #expect(seen.insert(now.reference).inserted)
    }
    #expect(try await present().count == 1)
    #expect(try await store.contents().deleted.count == 5)
  }

  @Test func theNewestOfOneCallWins() async throws {
    let readings = [summary("100", at: 1), summary("300", at: 3), summary("200", at: 2)]
    let written = try await store.replace(drifting: readings)
    #expect((written.added, written.deleted, written.unchanged) == (2, 1, 1))
    #expect(try await present() == [readings[1]])
    #expect(try await store.samples.typeCounts() == [TypeCount(type: .activitySummary, samples: 1)])
  }

  @Test func daysAreApart() async throws {
    let days = (0..<3).map { summary("100", at: 1, day: $0) }
    try await store.replace(drifting: days)
    try await store.replace(drifting: [summary("200", at: 2, day: 1)])
    #expect(try await present().map(\.payload).filter { $0 == days[0].payload }.count == 2)
    #expect(try await present().count == 3)
  }

  @Test func readingsThatMetInOneStoreAreAllReplaced() async throws {
    try await store.add(summary("100", at: 1), summary("200", at: 2))
    let new = summary("300", at: 3)
    #expect(try await store.replace(drifting: [new]).deleted == 2)
    #expect(try await present() == [new])
  }

  @Test func whatIsDeletedStaysDeleted() async throws {
    let always = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)
    try await store.replace(drifting: [summary("100", at: 8), summary("100", at: 8, day: 1)])
    try await store.replace(drifting: [summary("200", at: 9)])
    #expect(try await store.samples.delete(.activitySummary, in: always) == 2)
    // Nor what a later export says of that day.
    let later = (8..<12).map { summary("\($0)00", at: $0) }
    #expect(try await store.replace(drifting: later).total == .init(refused: 4))
    #expect(try await store.replace(drifting: [summary("200", at: 9)]).total == .init(refused: 1))
    #expect(try await present().isEmpty)
    #expect(try await store.replace(drifting: [summary("100", at: 8, day: 2)]).added == 1)

    // Brought back, it changes as before.
    for reading in [summary("200", at: 9), later[0]] {
      var coder = ChangeCoder()
      try coder.add(reading)
      let restorer = SampleRestorer(store, SampleFilter(types: [.activitySummary]))
      #expect(try restorer.restore(coder.changes).added == 1)
      #expect(try restorer.restore(coder.changes).added == 0)
      #expect(try await store.replace(drifting: [reading]).total == .init(unchanged: 1))
      #expect(try await store.replace(drifting: [later[3]]).total == .init(added: 1, deleted: 1))
      #expect(try await present().filter { $0.start == reading.start }.map(\.payload) == [later[3].payload])
      try await store.delete(try #require(try await present().first { $0.start == reading.start }))
    }
  }

  @Test func goesWithABlockingBatch() async throws {
    var maker = SampleMaker(seed: 1)
    let sample = maker.steps(at: 0)
    _ = try store.applyBlocking(ChangeBatch(additions: [sample]), drifting: [summary("100", at: 1)])
    let written = try store.applyBlocking(ChangeBatch(additions: [sample]), drifting: [summary("200", at: 2)])
    #expect((written.added, written.deleted, written.unchanged) == (1, 1, 1))
    #expect(written.types[.activitySummary]?.added == 1)
  }
}
