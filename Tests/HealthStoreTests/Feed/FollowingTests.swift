import Foundation
import HealthModel
import Testing
import TestSupport

@testable import HealthStore

/// Tests of which observers notice which commits, and of the cost.
@Suite(.timeLimit(.minutes(5))) struct FollowingTests {
  let fixture: StoreFixture
  let other: HealthStore
  var store: HealthStore { fixture.store }

  init() throws {
    fixture = try StoreFixture()
    other = try fixture.again()
  }

  /// Adds a sample for each minute to `writer`, each in its own transaction.
  private func add(_ minutes: Range<Int>, to writer: HealthStore) async throws {
    for minute in minutes {
      var maker = SampleMaker(seed: UInt64(minute) + 1)
      try await writer.add(maker.steps(at: minute))
    }
  }

  @Test func itFirstCatchesUpThenFollowsThisProcessAndOthers() async throws {
    try await add(0..<25, to: store)
    var pages: [Int] = []
    var total = 0
    for try await page in store.feed.changes(pageSize: 10) {
      pages.append(page.changes.count)
      total += page.changes.count
      #expect(!page.changes.isEmpty)
      #expect(page.anchor == Anchor(change: Int64(total)))
      switch total {
      case 25: try await add(25..<26, to: other)
      case 26: try await add(26..<27, to: store)
      case 27: try await other.delete(store.samples.page(of: SampleMaker.stepCount, limit: 1)[0])
      default: break
      }
      if total >= 28 { break }
    }
    #expect(pages == [10, 10, 5, 1, 1, 1])
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func anotherProcessIsNoticed() async throws {
    try await add(0..<2, to: store)
    let anchor = try await store.feed.currentAnchor()
    let waiting = Task { [store] in try await store.feed.waitForChanges(after: anchor) }
    while store.watch.reads == 0 { try await Task.sleep(for: .milliseconds(1)) }
    try await SQLiteShell.run("UPDATE store SET counter = counter + 1", on: store.path)
    try await waiting.value
  }

  @Test func nothingIsLostBetweenCatchingUpAndFollowing() async throws {
    let count = 200
    try await withThrowingTaskGroup { group in
      for writer in [store, other] {
        let minutes = writer === store ? 0..<count : count..<2 * count
        group.addTask { try await add(minutes, to: writer) }
      }
      group.addTask {
        var seen: Set<SampleReference> = []
        for try await page in store.feed.changes(pageSize: 7) {
          for change in page.changes {
            #expect(seen.insert(change.reference).inserted, "a change came twice")
          }
          if seen.count == 2 * count { return }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func aFilterHoldsBackTheRestAndTheAnchorMovesOnAllTheSame() async throws {
    var maker = SampleMaker(seed: 1)
    let heartRate = SampleType("HKQuantityTypeIdentifierHeartRate")
    let filter = SampleFilter(types: [heartRate])
    var iterator = store.feed.changes(filter: filter).makeAsyncIterator()
    try await add(0..<5, to: store)
    var wanted = maker.steps(at: 9)
    wanted.type = heartRate
    try await store.add(wanted)
    let page = try #require(try await iterator.next())
    #expect(page.changes == [.added(wanted)])
    #expect(page.anchor == Anchor(change: 6))
  }

  @Test func cancellingEndsItAtOnce() async throws {
    let following = Task { [store] in
      var pages = 0
      for try await _ in store.feed.changes() { pages += 1 }
      return pages
    }
    while store.watch.waiting == 0 { await Task.yield() }
    following.cancel()
    #expect(try await following.value == 0)
    #expect(store.watch.waiting == 0)

    let cancelled = Task { [store] in
      withUnsafeCurrentTask { $0?.cancel() }
      try await store.feed.waitForChanges(after: .zero)
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
  }

  @Test func anAnchorThatIsNotOfThisStoreIsRefused() async throws {
    await #expect(throws: StoreError.anchorOutOfRange) {
      for try await _ in store.feed.changes(since: Anchor(change: 5)) {}
    }
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func aCheckpointThatCutsTheLogDoesNotStopIt() async throws {
    let (pages, seen) = AsyncStream.makeStream(of: Int.self)
    let following = Task { [store] in
      for try await page in store.feed.changes() { seen.yield(page.changes.count) }
    }
    var iterator = pages.makeAsyncIterator()
    for minute in 0..<4 {
      try await add(minute..<minute + 1, to: minute % 2 == 0 ? other : store)
      #expect(await iterator.next() == 1)
      try await SQLiteShell.run("PRAGMA wal_checkpoint(TRUNCATE)", on: store.path)
    }
    following.cancel()
    try await following.value
  }

  @Test func hundredsWaitForOneReadOfTheCounter() async throws {
    let count = 300
    try await withThrowingTaskGroup { group in
      for _ in 0..<count { group.addTask { [store] in try await store.feed.waitForChanges(after: .zero) } }
      while store.watch.waiting < count { try await Task.sleep(for: .milliseconds(1)) }
      // The first read may still be under way.
      while store.watch.reads == 0 { try await Task.sleep(for: .milliseconds(1)) }
      let (start, before) = (ContinuousClock.now, store.watch.reads)
      try await add(0..<1, to: other)
      try await group.waitForAll()
      // Those that came before the commit counted, and then one now and then, are few, however many wait.
      let reads = store.watch.reads - before
      #expect(reads < 50 + Int((ContinuousClock.now - start) / .seconds(1)))
    }
  }

  @Test func idlingCostsAQueryNowAndThenAndNothingWhenNobodyWaits() async throws {
    let waiting = Task { [store] in try await store.feed.waitForChanges(after: .zero) }
    while store.watch.reads == 0 { try await Task.sleep(for: .milliseconds(1)) }
    let (start, before) = (ContinuousClock.now, store.watch.reads)
    try await Task.sleep(for: .seconds(3))
    // A machine that is slow reads less.
    #expect(store.watch.reads - before <= Int((ContinuousClock.now - start) / StoreWatch.Timing.idle) + 1)
    waiting.cancel()
    _ = await waiting.result
    // It ends with the first look that finds nobody, and reads nothing more.
    while store.watch.isRunning { try await Task.sleep(for: .milliseconds(10)) }
    let after = store.watch.reads
    try await add(0..<3, to: store)
    try await add(3..<6, to: other)
    #expect(store.watch.reads == after)
    // And begins again.
    try await store.feed.waitForChanges(after: .zero)
  }

  @Test func aCommitIsNoticedWhereNothingTellsOfIt() async throws {
    // As on a file system that reports nothing, which is learned from a commit while it is watched.
    let watch = StoreWatch(store.pool, log: store.directory + "/another-wal")
    var minute = 0
    repeat {
      try await add(minute..<minute + 1, to: other)
      try await watch.wait(after: Int64(minute))
      minute += 1
    } while watch.isReported
    #expect(minute > 1)
  }

  @Test func aBurstOfCommitsIsNoStorm() async throws {
    let stormy = Task { [store] in
      var pages = 0
      for try await page in store.feed.changes() {
        pages += 1
        if page.anchor == Anchor(change: 300) { break }
      }
      return pages
    }
    let start = ContinuousClock.now
    try await add(0..<300, to: other)
    let pages = try await stormy.value
    let most = Int((ContinuousClock.now - start) / StoreWatch.Timing.rest) + 2
    #expect(pages <= most, "\(pages) wake-ups for 300 commits")
  }
}
