import HealthModel
import HealthStore
import Testing
import TestSupport

@Suite struct DeletingTests {
  let fixture: StoreFixture
  let samples: [Sample]
  var store: HealthStore { fixture.store }
  private let type = SampleMaker.stepCount

  init() throws {
    fixture = try StoreFixture()
    var maker = SampleMaker(seed: 1)
    samples = (0..<25).map { maker.steps(at: $0) }
  }

  @Test func takesTheLowerBoundAndLeavesTheUpper() async throws {
    try await store.apply(ChangeBatch(additions: samples))
    let range = samples[5].start..<samples[20].start
    #expect(try await store.samples.count(of: type, in: range) == 15)
    #expect(try await store.samples.delete(type, in: range) == 15)
    #expect(try await store.samples.count(of: type, in: range) == 0)
    let left = try await store.samples.page(of: type, limit: 100)
    #expect(left == (samples[..<5] + samples[20...]).reversed())
  }

  @Test func takesOneSourceAndLeavesTheOthers() async throws {
    var mixed = samples
    for index in mixed.indices { mixed[index].source.name = index.isMultiple(of: 3) ? "an app, \"old\"" : "watch" }
    try await store.apply(ChangeBatch(additions: mixed))
    let (app, watch) = (mixed.filter { $0.source.name != "watch" }, mixed.filter { $0.source.name == "watch" })
    let sources: Set = [app[0].source.name]
    #expect(try await store.samples.sourceNames() == [app[0].source.name, "watch"])
    #expect(try await store.samples.count(of: type, in: nil, from: sources) == app.count)
    #expect(try await store.samples.page(of: type, from: sources, limit: 100) == app.reversed())
    let always = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)
    #expect(try await store.samples.delete(type, in: always, from: ["never seen"]) == 0)
    #expect(try await store.samples.delete(type, in: always, from: sources, step: 2) == app.count)
    #expect(try await store.samples.page(of: type, limit: 100) == watch.reversed())
    // Whoever reads that source alone learns of the deletions, and nobody else does.
    let told = try await store.allChanges(filter: SampleFilter(sources: sources))
    #expect(Set(told.map(\.reference)) == Set(app.map(\.reference)))
    let others = try await store.allChanges(filter: SampleFilter(sources: ["watch"]))
    #expect(others == watch.map(Change.added))
  }

  @Test(arguments: [1, 4, 5, 15, 16, 1000])
  func stepsAddUp(step: Int) async throws {
    try await store.apply(ChangeBatch(additions: samples))
    #expect(try await store.samples.delete(type, in: samples[5].start..<samples[20].start, step: step) == 15)
    let changes = try await store.allChanges()
    let deleted = changes.compactMap { if case .deleted(let tombstone) = $0 { tombstone.sample } else { nil } }
    #expect(Set(deleted) == Set(samples[5..<20].map(\.reference)))
    #expect(deleted.count == 15)
    #expect(try await store.samples.typeCounts() == [TypeCount(type: type, samples: 10)])
  }

  @Test(.timeLimit(.minutes(5)), arguments: [0, -1])
  func aStepOfNothingStillEnds(step: Int) async throws {
    try await store.apply(ChangeBatch(additions: samples))
    #expect(try await store.samples.delete(type, in: samples[0].start..<samples[3].start, step: step) == 3)
  }

  @Test func sparesOtherTypes() async throws {
    var other = samples[0]
    other.type = SampleType("another")
    try await store.add(samples[0], other)
    #expect(
      try await store.samples.delete(type, in: Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)) == 1)
    #expect(try await store.samples.typeCounts() == [TypeCount(type: other.type, samples: 1)])
  }

  @Test func anUnknownTypeHasNothing() async throws {
    try await store.add(samples[0])
    let anchor = try await store.feed.currentAnchor()
    let all = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)
    #expect(try await store.samples.delete(SampleType("never seen"), in: all) == 0)
    #expect(try await store.samples.count(of: SampleType("never seen"), in: all) == 0)
    #expect(try await store.samples.count(of: SampleType("never seen"), in: nil) == 0)
    #expect(try await store.feed.currentAnchor() == anchor)
  }

  @Test func whatIsDeletedDoesNotComeBack() async throws {
    try await store.apply(ChangeBatch(additions: samples))
    _ = try await store.samples.delete(type, in: samples[0].start..<samples[24].start)
    #expect(try await store.apply(ChangeBatch(additions: samples)).added == 0)
    #expect(try await store.samples.page(of: type, limit: 100) == [samples[24]])
  }
}
