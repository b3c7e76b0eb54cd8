import HealthModel
import HealthStore
import Testing

/// Tests of records that agree in everything that their identities are derived from.
@Suite struct TwinTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  private func group(_ values: Double...) -> TwinGroup {
    TwinGroup(key: ExportedSample().key, samples: values.map { ExportedSample(value: $0).sample() })
  }

  @Test func aStoreThatKnowsNoneTakesTheRanks() async throws {
    try store.importExport([], twins: [group(1, 2, 3)])
    for (rank, value) in [1.0, 2, 3].enumerated() {
      let sample = ExportedSample(value: value).sample(ordinal: rank)
      #expect(try await store.samples.sample(sample.reference) == sample)
    }
  }

  @Test(arguments: [[1.0, 2, 3, 4], [3, 1, 2, 4], [0, 1, 2, 4]])
  func aNewOneTakesNobodysPlace(values: [Double]) async throws {
    try store.importExport([], twins: [group(1, 2, 4)])
    let later = TwinGroup(key: ExportedSample().key, samples: values.map { ExportedSample(value: $0).sample() })
    #expect(try store.importExport([], twins: [later]).total == .init(added: 1, unchanged: 3))
    #expect(try await store.values() == values.sorted())
    #expect(try store.importExport([], twins: [later]).total == .init(unchanged: 4))
  }

  @Test func aTwinThatComesLaterIsAdded() async throws {
    try store.importExport([ExportedSample(value: 5).sample()])
    #expect(try store.importExport([], twins: [group(3, 5)]).added == 1)
    #expect(try await store.values() == [3, 5])
  }

  @Test func whatWasDeletedDoesNotComeBackAndTheOthersStay() async throws {
    try store.importExport([], twins: [group(1, 2, 3)])
    try await store.delete(ExportedSample(value: 2).sample(ordinal: 1))
    #expect(try store.importExport([], twins: [group(1, 2, 3)]).added == 0)
    #expect(try await store.values() == [1, 3])
  }

  @Test(arguments: [(1.0, 3.0, 2.0), (1, 2, 3), (2, 3, 1)])
  func aSnapshotTakesTheOneThatIsGone(left: Double, alsoLeft: Double, gone: Double) async throws {
    try store.importExport([], twins: [group(1, 2, 3)])
    let types: Set<SampleType> = [ExportedSample().type]
    #expect(try store.importExport([], twins: [group(left, alsoLeft)], snapshotOf: types).deleted == 1)
    #expect(try await store.values() == [left, alsoLeft])
    #expect(try store.importExport([], twins: [group(left)], snapshotOf: types).deleted == 1)
    #expect(try await store.values() == [left])
  }

  @Test func aWorkoutThatSaysMoreIsNotAnother() async throws {
    var runs = (0..<2).map { _ in ExportedSample(type: .workout).sample() }
    let key = SampleKey(kind: "workout", sample: runs[0])
    for (index, minutes) in [10.0, 20].enumerated() {
      runs[index].payload = .workout(Workout(activityType: .name("run"), duration: minutes))
    }
    try store.importExport([], twins: [TwinGroup(key: key, samples: runs)])
    for index in runs.indices {
      runs[index].payload = .workout(Workout(activityType: .name("run"), duration: 30, events: []))
    }
    #expect(try store.importExport([], twins: [TwinGroup(key: key, samples: runs)]).total == .init(unchanged: 2))
  }

  /// Samples from CSV and JSON files have no information about an export.
  @Test func whatCameFromAFileGivesWay() async throws {
    let file = [1.0, 2, 3].enumerated().map { ExportedSample(value: $1).sample(ordinal: $0) }
    try await store.add(file[0], file[1], file[2])
    #expect(try store.importExport([], twins: [group(2, 3)]).total == .init(deleted: 1, unchanged: 2))
    #expect(try await store.values() == [2, 3])
    // And adds nothing afterwards.
    try await store.add(file[0])
    #expect(try await store.values() == [2, 3])
    let other = try StoreFixture()
    try await other.store.add(file[0], file[1])
    let page = try await store.feed.codedChanges(since: .zero, limit: 10)
    try await other.store.apply([page.changes])
    #expect(try await other.store.values() == [2, 3])
    #expect(try await other.store.digests.deep().record.samples == store.digests.deep().record.samples)
  }

  @Test func identitiesAreThoseOfTheRanksInTheNewestExport() async throws {
    try store.importExport([], twins: [group(1, 2, 4)])
    #expect(try ImportWriter(store, .init(name: "later")).write(twins: [group(1, 2, 3, 4)]).isEmpty)
    for (rank, value) in [1.0, 2, 3, 4].enumerated() {
      let sample = ExportedSample(value: value).sample(ordinal: rank)
      #expect(try await store.samples.sample(sample.reference) == sample)
    }
  }
}
