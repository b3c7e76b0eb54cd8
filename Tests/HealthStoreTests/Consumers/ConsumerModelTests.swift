import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests with random histories: additions, deletions, better copies, imports and their undoing, changed filters, lost
/// pages, pages read before later changes, and pruned tombstones.
@Suite struct ConsumerModelTests {
  @Test(.timeLimit(.minutes(5)), arguments: 0..<8)
  func aConsumerHasWhatItShould(block: Int) async throws {
    for run in 0..<25 { try await history(seed: UInt64(block * 25 + run)) }
  }

  private func history(seed: UInt64) async throws {
    let place: Comment = "seed \(seed)"
    var random = SeededGenerator(seed: seed)
    let world = SmallWorld(size: 24)
    let fixture = try StoreFixture()
    let stores = [fixture.store, try fixture.again()]
    var mirror = Mirror()
    var filter = world.filter(&random)
    var (withdraws, hasUndone) = (false, false)
    for _ in 0..<50 {
      let store = random.pick(stores)
      switch Int.random(in: 0..<14, using: &random) {
      case 0, 1:
        filter = random.oneIn(4) ? .everything : world.filter(&random)
        withdraws = random.oneIn(2)
        try await store.consumer("a", filter: filter, whenNarrowed: withdraws ? .withdraw : .keep)
      case 2:
        _ = try store.importExport(world.samples.filter { _ in random.oneIn(3) })
        if random.oneIn(2), try await step(&mirror, store, filter, world, &random) { hasUndone = true }
        if random.oneIn(2), try await undo(&mirror, store, world) { hasUndone = true }
      case 3: try await store.apply(ChangeBatch(additions: [workout(&random)]))
      case 4:
        try await store.feed.pruneTombstones(before: Timestamp(seconds: .random(in: 0...1_000_000_000, using: &random)))
      case 5...8: if try await step(&mirror, store, filter, world, &random) { hasUndone = true }
      case 9:
        try await mirror.catchUp(
          try await store.consumer("a", filter: filter, whenNarrowed: withdraws ? .withdraw : .keep),
          ofAtMost: Int.random(in: 1...9, using: &random))
        try await check(mirror, store, filter, withdraws: withdraws, place)
      default: try await store.apply(world.batch(&random, upTo: 4))
      }
    }
    let consumer = try await fixture.store.consumer(
      "a", filter: filter, whenNarrowed: withdraws ? .withdraw : .keep, receipt: mirror.receipt)
    try await mirror.catchUp(consumer)
    try await check(mirror, fixture.store, filter, withdraws: withdraws, place)
    #expect(mirror.repetitions == 0, place)
    // A receipt may be for a page with changes that were undone.
    #expect(mirror.startedOver == 0 || hasUndone, place)
  }

  /// - Returns: Whether an import was undone.
  private func undo(_ mirror: inout Mirror, _ store: HealthStore, _ world: SmallWorld) async throws -> Bool {
    guard case .undone(let undo) = try await store.imports.undoLast() else { return false }
    if !undo.restored.isEmpty { mirror.expectAgain(world.samples.map(\.reference)) }
    return true
  }

  /// Delivers a page, whose acknowledgement is sometimes lost and whose receipt is returned with the next page.
  ///
  /// - Returns: Whether an import was undone meanwhile.
  private func step(
    _ mirror: inout Mirror, _ store: HealthStore, _ filter: SampleFilter, _ world: SmallWorld,
    _ random: inout SeededGenerator
  ) async throws -> Bool {
    let receipt = random.oneIn(2) ? mirror.receipt : nil
    let consumer = try await store.consumer("a", filter: filter, receipt: receipt)
    guard
      let page = try await consumer.pages(ofAtMost: Int.random(in: 1...6, using: &random), repeatable: random.oneIn(2))
        .first(where: { _ in true })
    else { return false }
    let isCommitted = !random.oneIn(3)
    try mirror.take(page, isCommitted: isCommitted)
    guard isCommitted else { return false }
    guard random.oneIn(2),
      let ahead = try await consumer.ahead(of: page, ofAtMost: Int.random(in: 1...6, using: &random))
    else {
      try await consumer.commit(page)
      return false
    }
    var hasUndone = false
    switch Int.random(in: 0..<6, using: &random) {
    case 0: hasUndone = try await undo(&mirror, store, world)
    case 1: try await store.feed.pruneTombstones(before: .now)
    case 2: _ = try await store.consumer("a", filter: world.filter(&random), whenNarrowed: .withdraw)
    case 3, 4: try await store.apply(world.batch(&random, upTo: 4))
    default: break
    }
    do {
      let next = try await consumer.commit(page, handingOut: ahead)
      try mirror.take(next)
      // What was written anew after it was read comes once more.
      mirror.expectAgain(try next.additions().map(\.reference))
      if !random.oneIn(3) { try await consumer.commit(next) }
    } catch StoreError.consumerChanged {
      mirror.expectAgain(try page.additions().map(\.reference))
    }
    return hasUndone
  }

  private func check(
    _ mirror: Mirror, _ store: HealthStore, _ filter: SampleFilter, withdraws: Bool, _ place: Comment
  ) async throws {
    let live = try await store.live()
    let wanted = live.filter { filter.passes($0.value) }
    #expect(mirror.samples.filter { filter.passes($0.value) } == wanted, place)
    #expect(mirror.samples.keys.allSatisfy { live[$0] != nil }, place)
    if withdraws { #expect(mirror.samples == wanted, place) }
  }

  /// Returns a complete or incomplete copy of one of two workouts. A better copy replaces the other under a new
  /// number.
  private func workout(_ random: inout SeededGenerator) -> Sample {
    var maker = SampleMaker(seed: random.oneIn(2) ? 1 : 2)
    var sample = maker.steps(at: 3)
    sample.type = SampleType("HKWorkoutTypeIdentifier")
    var workout = Workout(activityType: WorkoutActivityType(exported: "HKWorkoutActivityTypeRunning"), duration: 60)
    if random.oneIn(2) {
      workout.totals = ["totalDistance": Quantity(5, "km")]
    } else {
      workout.isPartial = true
    }
    sample.payload = .workout(workout)
    return sample
  }
}
