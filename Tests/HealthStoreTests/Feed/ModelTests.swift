import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests of hundreds of random writes, each compared with ``StoreModel``.
@Suite struct ModelTests {
  @Test(arguments: [1, 2] as [UInt64])
  func aStoreDoesWhatTheModelDoes(seed: UInt64) async throws {
    let fixture = try StoreFixture()
    // Two instances take turns, so that neither may remember what the other has changed.
    let stores = [fixture.store, try fixture.again()]
    let world = SmallWorld()
    var model = StoreModel()
    var random = SeededGenerator(seed: seed)
    for step in 0..<250 {
      let place: Comment = "seed \(seed), step \(step)"
      let store = random.pick(stores)
      if random.oneIn(15) {
        try await deleteRange(store, &model, world, &random, place)
      } else {
        let batch = world.batch(&random)
        #expect(try await store.apply(batch) == model.apply(batch), place)
      }
      let reader = random.pick(stores)
      #expect(try await reader.samples.typeCounts() == model.typeCounts(), place)
      try await comparePage(reader, model, world, &random, place)
      if step % 10 == 0 { try await compareQueries(reader, model, world, &random, place) }
    }
  }

  private func deleteRange(
    _ store: HealthStore, _ model: inout StoreModel, _ world: SmallWorld, _ random: inout SeededGenerator,
    _ place: Comment
  ) async throws {
    let bounds = [random.pick(world.samples).start, random.pick(world.samples).start].sorted()
    let range = bounds[0]..<bounds[1]
    let type = random.pick(world.types)
    let doomed = model.references(of: type, in: range)
    let before = try await store.feed.currentAnchor()
    #expect(try await store.samples.count(of: type, in: range) == doomed.count, place)
    #expect(
      try await store.samples.delete(type, in: range, step: Int.random(in: 1...3, using: &random)) == doomed.count,
      place)
    // In which order they go is the store's own affair; the model follows.
    let tombstones = try await store.allChanges(since: before).compactMap {
      if case .deleted(let tombstone) = $0 { tombstone } else { nil }
    }
    #expect(tombstones.count == doomed.count && Set(tombstones.map(\.sample)) == doomed, place)
    _ = model.apply(ChangeBatch(deletions: tombstones))
  }

  private func comparePage(
    _ store: HealthStore, _ model: StoreModel, _ world: SmallWorld, _ random: inout SeededGenerator, _ place: Comment
  ) async throws {
    let anchor = Anchor(change: random.oneIn(3) ? 0 : Int64.random(in: 0...model.counter, using: &random))
    let filter = world.filter(&random)
    let limit = Int.random(in: 1...80, using: &random)
    let expected = model.changes(since: anchor, filter: filter)
    let page = try await store.feed.changes(since: anchor, filter: filter, limit: limit)
    #expect(page.changes == expected.prefix(limit).map(\.value), place)
    #expect(page.isLast == (expected.count < limit), place)
    let last = page.isLast ? model.counter : expected[limit - 1].change
    #expect(page.anchor == Anchor(change: last), place)
    let announced = try await store.feed.expectedChanges(since: anchor, filter: filter)
    #expect(filter == .everything ? announced >= expected.count : announced == expected.count, place)
  }

  private func compareQueries(
    _ store: HealthStore, _ model: StoreModel, _ world: SmallWorld, _ random: inout SeededGenerator, _ place: Comment
  ) async throws {
    let type = random.pick(world.types)
    let samples = model.newestFirst(type)
    #expect(try await store.samples.page(of: type, limit: 100) == samples, place)
    #expect(try await store.samples.page(of: type, offset: 3, limit: 4) == Array(samples.dropFirst(3).prefix(4)), place)
    #expect(try await store.samples.extent(of: type) == samples.last.map { $0.start...samples[0].start }, place)
    let filter = world.filter(&random)
    #expect(try await store.samples.typeCounts(filter) == model.typeCounts(filter), place)
  }
}
