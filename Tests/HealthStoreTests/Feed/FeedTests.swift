import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

@Suite struct FeedTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  /// Makes thirty changes: additions, and deletions of samples that do and don't exist.
  private func history() async throws -> [Change] {
    var maker = SampleMaker(seed: 1)
    let samples = (0..<20).map { _ in maker.steps(at: Int.random(in: 0...1000, using: &maker.random)) }
    try await store.apply(ChangeBatch(additions: Array(samples[..<12])))
    try await store.delete(samples[3], samples[7], maker.steps(at: 1))
    try await store.apply(ChangeBatch(additions: Array(samples[12...])))
    try await store.delete(maker.steps(at: 2), samples[15])
    let gone = [samples[3], samples[7], samples[15]]
    let changes = try await store.feed.changes(since: .zero, limit: 1000).changes
    let added = changes.compactMap { if case .added(let sample) = $0 { sample } else { nil } }
    #expect(added == samples.filter { !gone.contains($0) })
    #expect(changes.count == 22)
    return changes
  }

  @Test func pagesOfAnySizeGiveEveryChangeOnceAndInOrder() async throws {
    let whole = try await history()
    for limit in 1...whole.count + 1 {
      #expect(try await store.allChanges(limit: limit) == whole, "limit \(limit)")
    }
  }

  @Test func aFeedCanBeTakenUpAtEveryPosition() async throws {
    let whole = try await history()
    var anchor = Anchor.zero
    for index in whole.indices {
      #expect(try await store.allChanges(since: anchor) == Array(whole[index...]))
      let page = try await store.feed.changes(since: anchor, limit: 1)
      #expect(page.anchor > anchor)
      anchor = page.anchor
    }
    #expect(try await store.allChanges(since: anchor) == [])
  }

  @Test func theLastPageEndsAtTheStoresPosition() async throws {
    _ = try await history()
    let page = try await store.feed.changes(since: .zero, limit: 1000)
    #expect(page.isLast)
    #expect(page.anchor == (try await store.feed.currentAnchor()))
    // 20 additions and 5 deletions took a number each.
    #expect(page.anchor == Anchor(change: 25))
  }

  @Test func aFullPageIsNotTheLast() async throws {
    let whole = try await history()
    let page = try await store.feed.changes(since: .zero, limit: whole.count)
    #expect(page.changes == whole)
    #expect(!page.isLast)
    let rest = try await store.feed.changes(since: page.anchor, limit: whole.count)
    #expect(rest.changes.isEmpty && rest.isLast)
  }

  @Test("names count in the size of a page, and one of the greatest samples has a page alone")
  func pagesThatOtherMachinesTake() async throws {
    var maker = SampleMaker(seed: 2)
    var samples = (0..<60).map { maker.steps(at: $0) }
    let name = String(repeating: "n", count: 100_000)
    for index in samples.indices { samples[index].source = Source(name: "\(name)\(index)") }
    samples[30].metadata = ["k": .string(String(repeating: "m", count: 5 << 20))]
    try await store.apply(ChangeBatch(additions: samples))
    var (anchor, found, isLast) = (Anchor.zero, [UUID](), false)
    while !isLast {
      let page = try await store.feed.codedChanges(since: anchor, limit: 1000)
      let uuids = page.changes.samples.map(\.uuid)
      #expect(uuids.contains(samples[30].uuid) ? uuids.count == 1 : uuids.count <= 12)
      found += uuids
      (anchor, isLast) = (page.anchor, page.isLast)
    }
    #expect(found == samples.map(\.uuid))
    // Among deletions, too, however samples stand between them.
    try await store.apply(ChangeBatch(deletions: samples[..<40].map { $0.tombstone() }))
    try await store.add(maker.steps(at: 1_000))
    anchor = .zero
    var (left, deleted): (Set<UUID>, Int) = ([], 0)
    isLast = false
    while !isLast {
      let page = try await store.feed.codedChanges(since: anchor, limit: 1000)
      left.formUnion(page.changes.samples.map(\.uuid))
      deleted += page.changes.tombstones.count
      #expect(page.changes.tombstones.count <= 2)
      #expect(page.anchor > anchor)
      (anchor, isLast) = (page.anchor, page.isLast)
    }
    #expect(deleted == 40)
    #expect(left.count == 21 && left.isSuperset(of: samples[40...].map(\.uuid)))
  }

  @Test func anEmptyStoreHasNothingToSay() async throws {
    let page = try await store.feed.changes(since: .zero, limit: 10)
    #expect(page.changes.isEmpty && page.isLast && page.anchor == .zero)
  }

  @Test func whatCameAndWentSinceIsATombstoneOnly() async throws {
    var maker = SampleMaker(seed: 1)
    let (old, new) = (maker.steps(at: 0), maker.steps(at: 1))
    try await store.add(old)
    let anchor = try await store.feed.currentAnchor()
    try await store.add(new)
    try await store.delete(new, old)
    let deletions = [Change.deleted(new.tombstone()), .deleted(old.tombstone())]
    #expect(try await store.allChanges(since: anchor) == deletions)
  }

  @Test(arguments: [0, -1, Int.min])
  func aLimitOfNothingStillMovesOn(limit: Int) async throws {
    let whole = try await history()
    let page = try await store.feed.changes(since: Anchor(change: 0), limit: limit)
    #expect(page.changes == [whole[0]])
    #expect(page.anchor > .zero)
  }

  @Test(arguments: [1, Int64.max, -1, .min])
  func aPositionThatIsNotOfThisStoreIsRefused(change: Int64) async throws {
    let anchor = Anchor(change: change)
    await #expect(throws: StoreError.anchorOutOfRange) { try await store.feed.changes(since: anchor, limit: 10) }
  }

  @Test(arguments: [1, 2, 7] as [UInt64])
  func aReaderFollowsAStoreThatIsWrittenBetweenPages(seed: UInt64) async throws {
    let world = SmallWorld(size: 200)
    var random = SeededGenerator(seed: seed)
    var replica: Set<Sample> = []
    var (added, deleted): (Set<SampleReference>, Set<SampleReference>) = ([], [])
    var anchor = Anchor.zero
    var writes = 0
    while true {
      let page = try await store.feed.changes(since: anchor, limit: Int.random(in: 1...6, using: &random))
      for change in page.changes {
        switch change {
        case .added(let sample):
          #expect(added.insert(sample.reference).inserted && !deleted.contains(sample.reference))
          replica.insert(sample)
        case .deleted(let tombstone):
          // Once more where an earlier deletion of it was told of.
          deleted.insert(tombstone.sample)
          replica = replica.filter { $0.reference != tombstone.sample }
        }
      }
      #expect(page.anchor >= anchor)
      anchor = page.anchor
      guard writes < 60 else {
        guard page.isLast else { continue }
        break
      }
      try await store.apply(world.batch(&random))
      writes += 1
    }
    let expected = try await store.allChanges().compactMap { if case .added(let sample) = $0 { sample } else { nil } }
    #expect(replica == Set(expected), "seed \(seed)")
  }
}
