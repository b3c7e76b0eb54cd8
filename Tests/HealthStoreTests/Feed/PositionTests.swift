import HealthModel
import HealthStore
import Testing
import TestSupport

@Suite struct PositionTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  @Test func isKeptPerConsumer() async throws {
    #expect(try await store.feed.position(of: "peer") == nil)
    try await store.apply(ChangeBatch(), position: ("peer", "one"))
    try await store.apply(ChangeBatch(), position: ("other", "two"))
    try await store.apply(ChangeBatch(), position: ("peer", "three"))
    #expect(try await store.feed.position(of: "peer") == "three")
    #expect(try await store.feed.position(of: "other") == "two")
    #expect(try await fixture.again().feed.position(of: "peer") == "three")
  }

  @Test func isForgottenForOneConsumerOnly() async throws {
    try await store.apply(ChangeBatch(), position: ("peer", "one"))
    try await store.apply(ChangeBatch(), position: ("other", "two"))
    try await store.feed.forgetPosition(of: "peer")
    #expect(try await store.feed.position(of: "peer") == nil)
    #expect(try await store.feed.position(of: "other") == "two")
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func staysWhereItIsWhenItsBatchFails() async throws {
    var maker = SampleMaker(seed: 1)
    let samples = (0..<5).map { maker.steps(at: $0) }
    try await store.apply(ChangeBatch(additions: [samples[0]]), position: ("peer", "before"))
    let before = (
      try await store.contents(), try await store.feed.currentAnchor(), try await store.samples.typeCounts()
    )
    try await SQLiteShell.run(
      """
      CREATE TRIGGER fail BEFORE INSERT ON sample WHEN new.start = \(samples[4].start.microseconds)
      BEGIN SELECT RAISE(ABORT, 'not today'); END
      """, on: store.path)
    let batch = ChangeBatch(additions: samples, deletions: [samples[0].tombstone()])
    await #expect(throws: StoreError.self) { try await store.apply(batch, position: ("peer", "after")) }
    #expect(try await store.feed.position(of: "peer") == "before")
    #expect(try await store.contents() == before.0)
    #expect(try await store.feed.currentAnchor() == before.1)
    #expect(try await store.samples.typeCounts() == before.2)

    try await SQLiteShell.run("DROP TRIGGER fail", on: store.path)
    let summary = try await store.apply(batch, position: ("peer", "after"))
    #expect((summary.added, summary.deleted) == (4, 1))
    #expect(try await store.feed.position(of: "peer") == "after")
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func takesItsBatchBackWhenItCannotBeWritten() async throws {
    var maker = SampleMaker(seed: 1)
    var sample = maker.steps(at: 0)
    sample.type = SampleType("a type that nothing had before")
    try await SQLiteShell.run(
      "CREATE TRIGGER fail BEFORE INSERT ON position BEGIN SELECT RAISE(ABORT, 'not today'); END", on: store.path)
    let batch = ChangeBatch(additions: [sample])
    await #expect(throws: StoreError.self) { try await store.apply(batch, position: ("peer", "after")) }
    #expect(try await store.allChanges() == [])
    #expect(try await store.feed.currentAnchor() == .zero)

    // Nothing that was rolled back is remembered, such as the row of the new type.
    try await store.add(sample)
    #expect(try await store.allChanges() == [.added(sample)])
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func aReadingThatCannotBeWrittenKeepsTheOldOne() async throws {
    var maker = SampleMaker(seed: 1)
    let plain = maker.steps(at: 9)
    var old = maker.steps(at: 0)
    old.uuid = SampleIdentity.uuid(ofReading: old)
    var new = old
    new.created = old.end
    new.payload = .quantity(Quantity(1e6, "count"))
    try await store.add(readings: [old])
    try await SQLiteShell.run(
      "CREATE TRIGGER fail AFTER DELETE ON sample BEGIN SELECT RAISE(ABORT, 'not today'); END", on: store.path)
    #expect(throws: StoreError.self) {
      try store.applyBlocking(ChangeBatch(additions: [plain]), readings: [new])
    }
    #expect(try await store.allChanges() == [.added(old)])
  }
}
