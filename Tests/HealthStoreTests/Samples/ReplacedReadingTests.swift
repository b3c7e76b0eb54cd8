import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests of readings of which only the newest is stored.
@Suite struct ReplacedReadingTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  /// Returns an export's reading about a day, as of `hour`.
  private func summary(_ energy: String, at hour: Int, day: Int = 0) -> Sample {
    let start = Timestamp(seconds: 1_704_067_200 + Int64(day) * 86_400)
    var sample = Sample(
      uuid: SampleIdentity.namespace, type: .activitySummary, start: start, end: start,
      created: Timestamp(seconds: start.seconds + Int64(hour) * 3600), source: Source(name: "Health"),
      payload: .activitySummary(ActivitySummary(date: "2024-01-01", attributes: ["activeEnergyBurned": energy])))
    sample.uuid = SampleIdentity.uuid(ofReading: sample)
    return sample
  }

  private func present() async throws -> [Sample] {
    try await store.samples.page(of: .activitySummary, limit: 100)
  }

  @Test func aNewerReadingTakesTheOldersPlace() async throws {
    let (old, new) = (summary("100", at: 8), summary("200", at: 9))
    #expect(try await store.add(readings: [old]).added == 1)
    let written = try await store.add(readings: [new])
    #expect((written.added, written.deleted, written.unchanged) == (1, 1, 0))
    #expect(try await present() == [new])
    #expect(new.uuid == old.uuid)
    #expect(try await store.allChanges() == [.added(new)])
  }

  @Test func anOlderReadingDoesNothing() async throws {
    let (old, new) = (summary("100", at: 8), summary("200", at: 9))
    try await store.add(readings: [new])
    #expect(try await store.add(readings: [old]).total == .init(unchanged: 1))
    #expect(try await present() == [new])
    #expect(try await store.feed.currentAnchor() == Anchor(change: 1))
  }

  @Test func aNewerReadingOfTheSameValueDoesNothing() async throws {
    let old = summary("100", at: 8)
    try await store.add(readings: [old])
    #expect(try await store.add(readings: [summary("100", at: 9)]).total == .init(unchanged: 1))
    #expect(try await present() == [old])
  }

  /// The additional content was skipped by an earlier version of the reader, or added by the phone.
  @Test func aNewerReadingWithMoreBesideItsNumbersTakesTheOldersPlace() async throws {
    let old = summary("100", at: 8)
    var new = summary("100", at: 8)
    new.metadata = ["hpeer.element.Ring": "{}"]
    new.uuid = SampleIdentity.uuid(ofReading: new)
    #expect(new.uuid == old.uuid)
    try await store.add(readings: [old])
    let written = try await store.add(readings: [new])
    #expect((written.added, written.deleted, written.unchanged) == (1, 1, 0))
    #expect(try await store.add(readings: [new]).total == .init(unchanged: 1))
    #expect(try await present() == [new])
  }

  @Test func aValueThatComesBackLeavesNothingBehind() async throws {
    for hour in 0..<6 {
      let reading = summary(hour % 2 == 0 ? "100" : "200", at: hour)
      #expect(try await store.add(readings: [reading]).added == 1)
      #expect(try await present() == [reading])
    }
    #expect(try await store.contents().deleted.isEmpty)
  }

  @Test func theNewestOfOneCallWins() async throws {
    let readings = [summary("100", at: 1), summary("300", at: 3), summary("200", at: 2)]
    let written = try await store.add(readings: readings)
    #expect((written.added, written.deleted, written.unchanged) == (2, 1, 1))
    #expect(try await present() == [readings[1]])
    #expect(try await store.samples.typeCounts() == [TypeCount(type: .activitySummary, samples: 1)])
  }

  @Test func daysAreApart() async throws {
    let days = (0..<3).map { summary("100", at: 1, day: $0) }
    try await store.add(readings: days)
    try await store.add(readings: [summary("200", at: 2, day: 1)])
    #expect(try await present().map(\.payload).filter { $0 == days[0].payload }.count == 2)
    #expect(try await present().count == 3)
  }

  @Test func theNewestOfTwoThatAreAppliedIsHeld() async throws {
    try await store.add(summary("200", at: 2), summary("100", at: 1))
    #expect(try await present() == [summary("200", at: 2)])
    try await store.add(summary("300", at: 3))
    #expect(try await present() == [summary("300", at: 3)])
    #expect(try await store.contents().deleted.isEmpty)
  }

  @Test(arguments: [[0, 1], [1, 0]])
  func twoMachinesThatHearInAnotherOrderHoldTheNewest(order: [Int]) async throws {
    let other = try StoreFixture()
    let readings = [summary("100", at: 8), summary("200", at: 9)]
    for reading in readings { try await store.add(readings: [reading]) }
    for index in order { try await other.store.add(readings: [readings[index]]) }
    try await exchange(with: other.store)
    for store in [store, other.store] {
      #expect(try await store.samples.page(of: .activitySummary, limit: 100) == [readings[1]])
      #expect(try await store.contents().deleted.isEmpty)
      #expect(try await store.add(readings: readings).total == .init(unchanged: 2))
    }
  }

  @Test func whatWasSaidAgainLaterIsNewerThanWhatCameBetween() async throws {
    let other = try StoreFixture()
    let again = summary("100", at: 10)
    try await store.add(readings: [summary("100", at: 8)])
    #expect(try await store.add(readings: [again]).total == .init(unchanged: 1))
    let between = summary("200", at: 9)
    #expect(try await store.add(readings: [between]).total == .init(unchanged: 1))
    try await other.store.add(readings: [between])
    try await exchange(with: other.store)
    #expect(try await present() == [again])
    #expect(try await other.store.samples.page(of: .activitySummary, limit: 100) == [again])
  }

  @Test func aClockThatIsAheadKeepsNothingOut() async throws {
    let now = Timestamp.now
    var future = summary("900", at: 0)
    future.created = Timestamp(seconds: now.seconds + 400 * 86_400)
    try await store.add(readings: [future])
    #expect(try await present().first?.created ?? future.start <= Timestamp(seconds: Timestamp.now.seconds + 1))
    // Nor does one that another machine took for right.
    let other = try StoreFixture()
    try await other.store.add(future)
    var next = summary("100", at: 0)
    next.created = Timestamp.now
    #expect(try await other.store.add(readings: [next]).total == .init(added: 1, deleted: 1))
    try await exchange(with: other.store)
    #expect(try await present().map(\.payload) == [next.payload])
  }

  /// Exchanges changes in both directions until nothing is new.
  private func exchange(with other: HealthStore) async throws {
    for _ in 0..<2 {
      for (from, to) in [(store, other), (other, store)] {
        for change in try await from.allChanges() { try await to.take(change) }
      }
    }
    #expect(try await store.digests.deep().record == other.digests.deep().record)
  }

  @Test func whatIsDeletedStaysDeleted() async throws {
    let always = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)
    try await store.add(readings: [summary("100", at: 8), summary("100", at: 8, day: 1)])
    try await store.add(readings: [summary("200", at: 9)])
    #expect(try await store.samples.delete(.activitySummary, in: always) == 2)
    // Nor what a later export says of that day.
    let later = (8..<12).map { summary("\($0)00", at: $0) }
    #expect(try await store.add(readings: later).total == .init(refused: 4))
    #expect(try await store.add(readings: [summary("200", at: 9)]).total == .init(refused: 1))
    #expect(try await present().isEmpty)
    #expect(try await store.add(readings: [summary("100", at: 8, day: 2)]).added == 1)

    // Brought back, it changes as before.
    for reading in [summary("200", at: 9), later[0]] {
      var coder = ChangeCoder()
      try coder.add(reading)
      let restorer = SampleRestorer(store, SampleFilter(types: [.activitySummary]))
      #expect(try restorer.restore(coder.changes).added == 1)
      #expect(try restorer.restore(coder.changes).added == 0)
      #expect(try await store.add(readings: [reading]).total == .init(unchanged: 1))
      #expect(try await store.add(readings: [later[3]]).total == .init(added: 1, deleted: 1))
      #expect(try await present().filter { $0.start == reading.start }.map(\.payload) == [later[3].payload])
      try await store.delete(try #require(try await present().first { $0.start == reading.start }))
    }
  }

  @Test func goesWithABlockingBatch() async throws {
    var maker = SampleMaker(seed: 1)
    let sample = maker.steps(at: 0)
    _ = try store.applyBlocking(ChangeBatch(additions: [sample]), readings: [summary("100", at: 1)])
    let written = try store.applyBlocking(ChangeBatch(additions: [sample]), readings: [summary("200", at: 2)])
    #expect((written.added, written.deleted, written.unchanged) == (1, 1, 1))
    #expect(written.types[.activitySummary]?.added == 1)
  }
}
