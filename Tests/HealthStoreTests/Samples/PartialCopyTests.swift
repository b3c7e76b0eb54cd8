import Foundation
import HealthModel
import HealthStore
import Testing

@Suite("Copies of which something was left out")
struct PartialCopyTests {
  private let fixture: StoreFixture
  private var store: HealthStore { fixture.store }
  private let whole: Sample
  private let workouts: [Sample]

  init() throws {
    fixture = try StoreFixture()
    let noon = Timestamp(seconds: 1_718_452_800)
    let whole = Sample(
      uuid: UUID(), type: .workout, start: noon, end: Timestamp(seconds: noon.seconds + 60),
      source: Source(name: "Watch"), metadata: ["hpeer.element.1": "<Zones/>", "HKIndoorWorkout": .bool(true)],
      payload: .workout(
        Workout(
          activityType: .value(37), duration: 60, totals: ["totalEnergyBurned": Quantity(3, "kcal")],
          statistics: ["HeartRate", "StepCount"].map {
            WorkoutStatistics(type: SampleType("HKQuantityTypeIdentifier\($0)"), sum: 1)
          })))
    let cuts = [["StepCount"], ["HeartRate"], []].map { types in
      SampleFilter(types: Set(types.map { SampleType("HKQuantityTypeIdentifier\($0)") })).cut
    }
    self.whole = whole
    workouts = [whole] + cuts.map { $0.applied(to: whole) }
  }

  private func stored() async throws -> [Sample] { try await store.samples.page(of: .workout, limit: 10) }

  @Test("a whole copy takes the place of a partial one, and whoever has read that one reads it")
  func replaced() async throws {
    try await store.add(workouts[3])
    let page = try await store.feed.changes(since: .zero, limit: 10)
    let summary = try await store.apply(ChangeBatch(additions: [whole]))
    #expect(summary.total == .init(unchanged: 1))
    #expect(try await stored() == [whole])
    #expect(try await store.feed.changes(since: page.anchor, epoch: page.epoch, limit: 10).changes == [.added(whole)])
    #expect(try await store.samples.typeCounts().map(\.samples) == [1])
    try await store.add(workouts[3], workouts[1])
    #expect(try await stored() == [whole])
    #expect(try await store.feed.currentAnchor() == Anchor(change: 2))
  }

  @Test("in whatever order copies come, and in however many batches, the best stays and the digests agree")
  func order() async throws {
    try await store.add(whole)
    let digest = try await store.digests.current().record
    let partial = try StoreFixture()
    try await partial.store.apply(ChangeBatch(additions: [workouts[1], workouts[2]]))
    let bestPartial = try await partial.store.samples.page(of: .workout, limit: 1)
    for first in workouts.indices {
      for second in workouts.indices {
        for third in workouts.indices {
          let copies = [workouts[first], workouts[second], workouts[third]]
          let batches: [[Sample]] = [[copies[0]], [copies[1], copies[2]]]
          let fixture = try StoreFixture()
          let store = fixture.store
          for batch in batches { try await store.apply(ChangeBatch(additions: batch)) }
          let stored = try await store.samples.page(of: .workout, limit: 10)
          #expect(stored.count == 1)
          if copies.contains(whole) { #expect(stored == [whole]) }
          if !copies.contains(whole), copies.contains(workouts[1]), copies.contains(workouts[2]) {
            #expect(stored == bestPartial)
          }
          #expect(try await store.samples.typeCounts().map(\.samples) == [1])
          #expect(try await store.digests.current().record == digest)
        }
      }
    }
  }

  @Test("a digest that is kept follows")
  func keptDigest() async throws {
    try await store.add(workouts[3])
    _ = try await store.digests.keep(for: .seconds(60))
    let before = try await store.digests.current().record
    try await store.add(whole)
    _ = try await store.digests.keep(for: .seconds(60))
    #expect(try await store.digests.current().record == before)
    let other = try StoreFixture()
    try await other.store.add(whole)
    #expect(try await other.store.digests.deep().record == store.digests.deep().record)
  }

  @Test("what a reader of some types may know has one digest, whatever copy there is")
  func digestWithinScope() async throws {
    let scope = SampleFilter(types: [.workout])
    try await store.add(workouts[1])
    let partial = try await store.digests.deep(scope).record
    try await store.add(whole)
    #expect(try await store.digests.deep(scope).record == partial)
    #expect(try await store.digests.deep().record != partial)
  }

  @Test("undoing the import that brought the whole one brings the partial one back")
  func undone() async throws {
    try await store.add(workouts[3])
    try store.importExport([whole])
    #expect(try await stored() == [whole])
    guard case .undone(let undo) = try await store.imports.undoLast() else {
      Issue.record("not undone")
      return
    }
    #expect((undo.removed[.workout], undo.restored[.workout]) == (1, 1))
    #expect(try await stored() == [workouts[3]])
    #expect(try await store.samples.typeCounts().map(\.samples) == [1])
  }

  @Test("one that is deleted stays deleted, whatever copy comes")
  func deleted() async throws {
    try await store.add(workouts[3])
    try await store.delete(workouts[3])
    #expect(try await store.apply(ChangeBatch(additions: [whole])).total == .init(refused: 1))
    #expect(try await stored().isEmpty)
  }

  @Test("what a page shows within a cut is partial, the store is not")
  func coded() async throws {
    try await store.add(whole)
    let cut = SampleFilter(types: [SampleType("HKQuantityTypeIdentifierHeartRate")]).cut
    let page = try await store.feed.codedChanges(since: .zero, cut: cut, limit: 10)
    let expander = try ChangeExpander(page.changes)
    #expect(try page.changes.samples.map(expander.sample) == [workouts[2]])
    #expect(page.changes.metadata == [#"{"HKIndoorWorkout":true}"#])
    #expect(try await stored() == [whole])
  }
}
