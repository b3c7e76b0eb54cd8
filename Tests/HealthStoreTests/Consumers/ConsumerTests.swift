import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

@Suite struct ConsumerTests {
  let fixture: StoreFixture
  let steps: [Sample]
  let heart: [Sample]
  var store: HealthStore { fixture.store }
  let heartRate = SampleType("HKQuantityTypeIdentifierHeartRate")

  init() throws {
    fixture = try StoreFixture()
    var maker = SampleMaker(seed: 3)
    steps = (0..<6).map { maker.steps(at: $0) }
    let heartRate = heartRate
    heart = (0..<6).map { number in
      var sample = maker.steps(at: number)
      sample.type = heartRate
      return sample
    }
  }

  private func fill() async throws { try await store.apply(ChangeBatch(additions: steps + heart)) }

  private var onlySteps: SampleFilter { SampleFilter(types: [SampleMaker.stepCount]) }

  @Test func hasEachChangeOnceAcrossProcesses() async throws {
    try await fill()
    var mirror = Mirror()
    try await mirror.catchUp(try await store.consumer("a"), ofAtMost: 5)
    #expect(try await mirror.samples == store.live())
    // Another process goes on where this one stopped.
    let other = try fixture.again()
    for try await _ in try await other.consumer("a").pages() { Issue.record("nothing is new") }
    try await store.delete(steps[0])
    try await mirror.catchUp(try await other.consumer("a"))
    #expect(try await mirror.samples == store.live())
    #expect(mirror.samples.count == 11)
    #expect((mirror.repetitions, mirror.startedOver) == (0, 0))
  }

  @Test func aPageThatWasNotCommittedComesAgain() async throws {
    try await fill()
    let consumer = try await store.consumer("a")
    var first: [[Sample]] = []
    for try await page in consumer.pages(ofAtMost: 4) {
      first.append(try page.additions())
      if first.count == 3 { break }
    }
    #expect(first[0].count == 4)
    #expect(first == [first[0], first[0], first[0]])
  }

  @Test func aRepeatablePageComesAgainAsItWas() async throws {
    try await fill()
    let consumer = try await store.consumer("a")
    let first = try #require(try await consumer.pages(ofAtMost: 4, repeatable: true).first { _ in true })
    // Whatever happens meanwhile, and whoever asks for pages of whatever size.
    let gone = try first.additions()[1]
    try await store.delete(gone)
    var maker = SampleMaker(seed: 9)
    try await store.add(maker.steps(at: 50))
    for size in [1, 100] {
      let again = try #require(
        try await fixture.again().consumer("a").pages(ofAtMost: size, repeatable: size == 1).first { _ in true })
      #expect(again.key == first.key && again.receipt == first.receipt)
      #expect(try again.additions() == first.additions().filter { $0 != gone })
      #expect(again.deletions.isEmpty)
    }
    var mirror = Mirror()
    try mirror.take(first, isCommitted: false)
    var keys: [UInt64] = []
    for try await page in consumer.pages(ofAtMost: 4, repeatable: true) {
      keys.append(page.key)
      try mirror.take(page)
      try await consumer.commit(page)
    }
    #expect(keys.first == first.key && Set(keys).count == keys.count)
    #expect(try await mirror.samples == store.live())
    #expect(mirror.repetitions == 0)
  }

  @Test func aPageThatWasReadAheadIsHandedOutWithTheCommit() async throws {
    try await fill()
    let consumer = try await store.consumer("a")
    let first = try #require(try await consumer.pages(ofAtMost: 4, repeatable: true).first { _ in true })
    let ahead = try #require(try await consumer.ahead(of: first, ofAtMost: 5))
    // Nothing has moved: the page in hand is still the first.
    let again = try #require(try await consumer.pages(ofAtMost: 4, repeatable: true).first { _ in true })
    #expect(again.key == first.key)
    let second = try await consumer.commit(first, handingOut: ahead)
    let other = try fixture.again()
    let inHand = try #require(
      try await other.consumer("a").pages(ofAtMost: 1, repeatable: true).first { _ in true })
    #expect(inHand.key == second.key && inHand.receipt == second.receipt)
    #expect(try inHand.additions() == second.additions())
    #expect(try second.additions().count == 5)
    // Once, and by one of two.
    await #expect(throws: StoreError.consumerChanged(name: "a")) {
      try await consumer.commit(first, handingOut: ahead)
    }
    try await consumer.commit(second)
    var mirror = Mirror()
    for page in [first, second] { try mirror.take(page) }
    try await mirror.catchUp(consumer)
    #expect(try await mirror.samples == store.live())
    #expect(mirror.repetitions == 0)
  }

  @Test func whatWasReadAheadIsVoidOnceItsImportIsUndone() async throws {
    try await store.apply(ChangeBatch(additions: steps))
    _ = try store.importExport(heart)
    let consumer = try await store.consumer("a")
    let first = try #require(try await consumer.pages(ofAtMost: 4, repeatable: true).first { _ in true })
    let ahead = try #require(try await consumer.ahead(of: first, ofAtMost: 100))
    _ = try await store.imports.undoLast()
    await #expect(throws: StoreError.consumerChanged(name: "a")) {
      try await consumer.commit(first, handingOut: ahead)
    }
    var mirror = Mirror()
    try await mirror.catchUp(consumer)
    #expect(mirror.samples.count == steps.count)
    #expect(try await mirror.samples == store.live())
  }

  @Test func nothingIsAheadOfTheLastPage() async throws {
    try await fill()
    let consumer = try await store.consumer("a")
    let page = try #require(try await consumer.pages().first { _ in true })
    let ahead = try await consumer.ahead(of: page)
    #expect(ahead == nil)
    try await consumer.commit(page)
  }

  @Test func anotherFilterIsNotHeldUpByAPageInHand() async throws {
    try await fill()
    let consumer = try await store.consumer("a", filter: onlySteps)
    var mirror = Mirror()
    let page = try #require(try await consumer.pages(ofAtMost: 4, repeatable: true).first { _ in true })
    try mirror.take(page, isCommitted: false)
    let other = try await store.consumer("a", filter: SampleFilter(types: [heartRate]), whenNarrowed: .withdraw)
    await #expect(throws: StoreError.consumerChanged(name: "a")) { try await consumer.commit(page) }
    try await mirror.catchUp(other)
    #expect(try await mirror.samples == store.live(SampleFilter(types: [heartRate])))
  }

  @Test func oneOfTwoThatWorkForOneNameIsTold() async throws {
    try await fill()
    let (one, two) = (try await store.consumer("a"), try await fixture.again().consumer("a"))
    let pages = (
      try await one.pages(ofAtMost: 4).first { _ in true }, try await two.pages(ofAtMost: 5).first { _ in true }
    )
    let (mine, theirs) = (try #require(pages.0), try #require(pages.1))
    try await one.commit(mine)
    await #expect(throws: StoreError.consumerChanged(name: "a")) { try await two.commit(theirs) }
    await #expect(throws: StoreError.consumerChanged(name: "a")) { try await one.commit(mine) }
    // Neither has lost anything.
    var mirror = Mirror()
    try mirror.take(mine)
    try await mirror.catchUp(two)
    #expect(try await mirror.samples == store.live())
    #expect(mirror.repetitions == 0)
  }

  @Test func aPageIsForItsOwnConsumerAndStore() async throws {
    try await fill()
    let page = try #require(try await store.consumer("a").pages().first { _ in true })
    await #expect(throws: StoreError.consumerChanged(name: "b")) { try await store.consumer("b").commit(page) }
    let elsewhere = try StoreFixture()
    await #expect(throws: StoreError.consumerChanged(name: "a")) {
      try await elsewhere.store.consumer("a").commit(page)
    }
  }

  @Test func whatAWiderFilterAddsComesAndNothingElse() async throws {
    try await fill()
    var mirror = Mirror()
    try await mirror.catchUp(try await store.consumer("a", filter: onlySteps))
    #expect(mirror.samples.count == 6)
    var added: [Sample] = []
    let wide = try await store.consumer("a", filter: SampleFilter(types: [SampleMaker.stepCount, heartRate]))
    for try await page in wide.pages(ofAtMost: 2) {
      added += try page.additions()
      try mirror.take(page)
      try await wide.commit(page)
    }
    #expect(Set(added) == Set(heart))
    #expect(try await mirror.samples == store.live())
    // In time, too, and while something new happens.
    var maker = SampleMaker(seed: 4)
    let late = try await store.consumer("b", filter: SampleFilter(earliest: steps[3].start))
    var other = Mirror()
    try await other.catchUp(late)
    #expect(other.samples.count == 6)
    try await store.add(maker.steps(at: 1))
    try await other.catchUp(try await store.consumer("b"), ofAtMost: 3)
    #expect(try await other.samples == store.live())
    #expect(other.repetitions == 0)
  }

  @Test func whatANarrowerFilterExcludesStays() async throws {
    try await fill()
    var mirror = Mirror()
    try await mirror.catchUp(try await store.consumer("a"))
    let narrow = try await store.consumer("a", filter: onlySteps)
    for try await _ in narrow.pages() { Issue.record("nothing is new") }
    // What is new follows the filter; what is deleted is not kept by anybody.
    var maker = SampleMaker(seed: 5)
    var sample = maker.steps(at: 9)
    sample.type = heartRate
    try await store.add(sample, maker.steps(at: 9))
    try await store.delete(heart[0])
    try await mirror.catchUp(narrow)
    #expect(mirror.samples.count == 12)
    #expect(mirror.samples[heart[0].reference] == nil && mirror.samples[heart[1].reference] == heart[1])
    #expect(mirror.samples[sample.reference] == nil)
    // And wide again, only what is missing comes.
    try await mirror.catchUp(try await store.consumer("a"))
    #expect(try await mirror.samples == store.live())
    #expect(mirror.repetitions == 0)
  }

  @Test func whatIsWithdrawnIsGone() async throws {
    try await fill()
    var mirror = Mirror()
    try await mirror.catchUp(try await store.consumer("a"))
    try await store.delete(heart[0])
    let narrow = try await store.consumer("a", filter: onlySteps, whenNarrowed: .withdraw)
    try await mirror.catchUp(narrow, ofAtMost: 2)
    #expect(try await mirror.samples == store.live(onlySteps))
    for try await _ in narrow.pages() { Issue.record("nothing is new") }
    try await mirror.catchUp(try await store.consumer("a"), ofAtMost: 2)
    #expect(try await mirror.samples == store.live())
    #expect(mirror.samples.count == 11)
  }

  @Test func anImportThatIsUndoneIsTakenBack() async throws {
    let earlier = ExportedSample(minute: 1).sample()
    try store.importExport([earlier, ExportedSample(minute: 2).sample()])
    var mirrors = [Mirror(), Mirror()]
    try await mirrors[0].catchUp(try await store.consumer("0"))
    try await mirrors[1].catchUp(try await store.consumer("1", filter: onlySteps))
    // The second export lacks one and has another.
    try store.importExport(
      [earlier, ExportedSample(minute: 3).sample()], file: .init(name: "later.zip"),
      snapshotOf: [ExportedSample().type])
    try await mirrors[0].catchUp(try await store.consumer("0"), ofAtMost: 1)
    #expect(try await mirrors[0].samples == store.live())
    guard case .undone = try await store.imports.undoLast() else {
      Issue.record("not undone")
      return
    }
    try await mirrors[0].catchUp(try await store.consumer("0"), ofAtMost: 1)
    try await mirrors[1].catchUp(try await store.consumer("1", filter: onlySteps))
    #expect(try await mirrors[0].samples == store.live())
    #expect(mirrors[0].samples.count == 2)
    #expect(mirrors[1].samples.isEmpty)
    #expect(mirrors.map(\.startedOver) == [0, 0])
  }

  @Test func whatWasInHandWhenAnImportWasUndoneIsTakenBackToo() async throws {
    try store.importExport([ExportedSample(minute: 1).sample()])
    let consumer = try await store.consumer("a")
    let page = try #require(try await consumer.pages().first { _ in true })
    var mirror = Mirror()
    try mirror.take(page, isCommitted: false)
    guard case .undone = try await store.imports.undoLast() else {
      Issue.record("not undone")
      return
    }
    await #expect(throws: StoreError.consumerChanged(name: "a")) { try await consumer.commit(page) }
    try await mirror.catchUp(consumer)
    #expect(mirror.samples.isEmpty)
  }

  @Test func tombstonesAreKeptForTheSlowest() async throws {
    try await fill()
    var mirror = Mirror()
    try await mirror.catchUp(try await store.consumer("fast"))
    try await store.consumer("slow")
    try await store.delete(steps[0])
    try await mirror.catchUp(try await store.consumer("fast"))
    #expect(try await store.feed.pruneTombstones(before: Timestamp(microseconds: .max)) == 0)
    #expect(try await store.consumers().map(\.name) == ["fast", "slow"])
    #expect(try await store.consumers().map(\.behind) == [0, 13])
    #expect(try await store.removeConsumer("slow"))
    #expect(try await !store.removeConsumer("slow"))
    #expect(try await store.feed.pruneTombstones(before: Timestamp(microseconds: .max)) == 1)
    // The other has lost nothing by it.
    try await store.delete(steps[1])
    try await mirror.catchUp(try await store.consumer("fast"))
    #expect(try await mirror.samples == store.live())
    #expect(mirror.startedOver == 0)
  }

  @Test func ofOneThatWasRemovedNothingIsCommitted() async throws {
    try await fill()
    let consumer = try await store.consumer("a")
    let page = try #require(try await consumer.pages().first { _ in true })
    try await store.removeConsumer("a")
    await #expect(throws: StoreError.consumerChanged(name: "a")) { try await consumer.commit(page) }
    await #expect(throws: StoreError.consumerChanged(name: "a")) { for try await _ in consumer.pages() {} }
  }

  @Test(.timeLimit(.minutes(5))) func followsWhatHappens() async throws {
    let consumer = try await store.consumer("a", filter: onlySteps)
    let other = try fixture.again()
    var mirror = Mirror()
    try await other.apply(ChangeBatch(additions: heart))
    try await other.add(steps[0])
    for try await page in consumer.following() {
      try mirror.take(page)
      try await consumer.commit(page)
      if mirror.samples.count == 3 { break }
      try await other.add(steps[mirror.samples.count])
    }
    #expect(Set(mirror.samples.values) == Set(steps[..<3]))
  }

  @Test func changesThatNobodyWantsAreNotReadForEver() async throws {
    try await store.apply(ChangeBatch(additions: heart))
    let consumer = try await store.consumer("a", filter: onlySteps)
    for try await _ in consumer.pages() { Issue.record("no page is empty") }
    #expect(try await store.consumers().map(\.behind) == [0])
    // A filter for nothing ends, too.
    for try await _ in try await store.consumer("b", filter: SampleFilter(types: [])).pages() {
      Issue.record("nothing")
    }
    for try await _ in try await store.consumer("b", filter: SampleFilter(types: [])).pages() {
      Issue.record("nothing")
    }
  }

  @Test(.enabled(if: SQLiteShell.isAvailable)) func bytesOfAPositionThatCannotBeReadAreDamage() async throws {
    try await store.consumer("a")
    try await SQLiteShell.run("UPDATE consumer SET state = '{'", on: fixture.directory.path("store.sqlite"))
    await #expect { try await store.consumer("a") } throws: { error in
      if case .corrupt? = error as? StoreError { true } else { false }
    }
  }
}

// MARK: Copies of the store that are put back

@Suite struct ConsumerRestoreTests {
  /// Returns a store that was restored from a copy with six of its twelve samples, as many as its consumer has.
  private func restored(_ mirror: inout Mirror) async throws -> (StoreFile, HealthStore) {
    let file = try StoreFile()
    var maker = SampleMaker(seed: 6)
    let samples = (0..<12).map { maker.steps(at: $0) }
    func add(_ samples: ArraySlice<Sample>) async throws {
      let store = try file.open()
      try await store.apply(ChangeBatch(additions: Array(samples)))
      try await mirror.catchUp(try await store.consumer("a"))
    }
    try await add(samples[..<6])
    let copy = try await file.copy()
    try await add(samples[6...])
    try await file.restore(copy)
    return (file, try file.open())
  }

  @Test func aReceiptTellsThatTheStoreWentBack() async throws {
    var mirror = Mirror()
    let (file, store) = try await restored(&mirror)
    defer { withExtendedLifetime(file) {} }
    #expect(mirror.samples.count == 12)
    let consumer = try await store.consumer("a", receipt: mirror.receipt)
    try await mirror.catchUp(consumer, ofAtMost: 4)
    #expect(mirror.startedOver == 1)
    #expect(try await mirror.samples == store.live())
    // Its new receipt is good.
    try await mirror.catchUp(try await store.consumer("a", receipt: mirror.receipt))
    #expect(mirror.startedOver == 1)
  }

  @Test func aReceiptOfAPageThatWasNotCommittedIsGood() async throws {
    let fixture = try StoreFixture()
    var maker = SampleMaker(seed: 7)
    let samples = (0..<6).map { maker.steps(at: $0) }
    try await fixture.store.apply(ChangeBatch(additions: samples))
    var mirror = Mirror()
    let consumer = try await fixture.store.consumer("a")
    let page = try #require(try await consumer.pages(ofAtMost: 4).first { _ in true })
    try mirror.take(page, isCommitted: false)
    let again = try await fixture.again().consumer("a", receipt: mirror.receipt)
    try await mirror.catchUp(again)
    #expect(try await mirror.samples == fixture.store.live())
    #expect((mirror.startedOver, mirror.repetitions) == (0, 0))
  }

  @Test func aReceiptForAConsumerThatIsGoneStartsOver() async throws {
    let fixture = try StoreFixture()
    var maker = SampleMaker(seed: 8)
    try await fixture.store.add(maker.steps(at: 0))
    var mirror = Mirror()
    try await mirror.catchUp(try await fixture.store.consumer("a"))
    try await fixture.store.removeConsumer("a")
    try await mirror.catchUp(try await fixture.store.consumer("a", receipt: mirror.receipt))
    #expect(mirror.startedOver == 1)
    #expect(mirror.samples.count == 1)
  }

  /// An empty store has no page to announce the new start with, except for a page without changes.
  @Test func startingOverIsSaidAlsoWhereNothingIs() async throws {
    var mirror = Mirror()
    let (file, lost) = try await restored(&mirror)
    withExtendedLifetime((file, lost)) {}
    let empty = try StoreFixture()
    let consumer = try await empty.store.consumer("a", receipt: mirror.receipt)
    try await mirror.catchUp(consumer)
    #expect(mirror.startedOver == 1)
    #expect(mirror.samples.isEmpty)
    for try await _ in consumer.pages() { Issue.record("it is said once") }
  }
}
