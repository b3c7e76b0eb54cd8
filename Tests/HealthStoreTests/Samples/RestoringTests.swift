import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests of the reports of imports about deleted samples, and of the restoration of such samples.
@Suite struct RestoringTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }
  private let type = ExportedSample().type
  private let always = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)

  init() throws { fixture = try StoreFixture() }

  private func samples(_ minutes: Range<Int>) -> [Sample] { minutes.map { ExportedSample(minute: $0).sample() } }

  private func coded(_ samples: [Sample]) throws -> CodedChanges {
    var coder = ChangeCoder()
    for sample in samples { try coder.add(sample) }
    return coder.changes
  }

  /// - Returns: The number of samples found, and the number restored.
  @discardableResult
  private func restore(
    _ samples: [Sample], twins: [TwinGroup] = [], in range: Range<Timestamp>? = nil, into store: HealthStore? = nil
  ) throws -> [Int] {
    let changes = try coded(samples)
    let (store, range) = (store ?? self.store, range ?? always)
    let filter = SampleFilter(types: [type], earliest: range.lowerBound, end: range.upperBound)
    let restorer = SampleRestorer(store, filter)
    try restorer.survey(changes, twins: twins)
    return [restorer.found, try SampleRestorer(store, filter).restore(changes, twins: twins).added]
  }

  private func present(_ store: HealthStore? = nil) async throws -> [Sample] {
    try await (store ?? self.store).samples.page(of: type, limit: 1_000)
  }

  @Test func anImportCountsWhatIsDeletedHere() async throws {
    try store.importExport(samples(0..<5))
    try await store.delete(samples(0..<1)[0], samples(1..<2)[0])
    // Apple prints the members of correlations twice.
    #expect(
      try store.importExport(samples(0..<6) + samples(0..<2)).total == .init(added: 1, unchanged: 3, refused: 2))
  }

  @Test func whatIsHiddenBehindAnotherIsNotDeleted() async throws {
    let (exported, original) = (ExportedSample().sample(), ExportedSample().original())
    try store.importExport([exported])
    try await store.add(original)
    #expect(try store.importExport([exported]).total == .init(unchanged: 1))
    #expect(try restore([exported]) == [0, 0])
    #expect(try restore([original]) == [0, 0])
    let otherFixture = try StoreFixture()
    let other = otherFixture.store
    try await other.apply([store.feed.codedChanges(since: .zero, limit: 100).changes])
    #expect(try other.importExport([exported]).total == .init(unchanged: 1))
    #expect(try restore([exported], into: other) == [0, 0])
    // Deleted on the phone, it is hidden here, and can be brought back.
    try await store.delete(original)
    #expect(try await present().isEmpty)
    #expect(try restore([exported]) == [1, 1])
    #expect(try restore([exported]) == [0, 0])
    #expect(try await present() == [exported])
  }

  /// The copy with fractions of a second, like those of apps, comes from a backup, the other from an export.
  @Test(arguments: [true, false], [true, false])
  func oneThatWasDeletedUnderTwoIdentitiesComesBackOnce(originalFirst: Bool, elsewhere: Bool) async throws {
    let (exported, original) = (ExportedSample().sample(), ExportedSample().original())
    try store.importExport([exported])
    try await store.add(original)
    try await store.delete(original)
    let otherFixture = try StoreFixture()
    let other = elsewhere ? otherFixture.store : store
    if elsewhere { try await other.apply([store.feed.codedChanges(since: .zero, limit: 100).changes]) }
    let order = originalFirst ? [original, exported] : [exported, original]
    #expect(try restore([order[0]], into: other) == [1, 1])
    #expect(try restore([order[1]], into: other) == [0, 0])
    #expect(try await present(other).count == 1)
    #expect(try other.importExport(order).total == .init(unchanged: 2))
    #expect(try await present(other).count == 1)
  }

  @Test func machinesThatBringBackOneUnderTwoIdentitiesAgree() async throws {
    let (exported, original) = (ExportedSample().sample(), ExportedSample().original())
    let fixtures = try (0..<3).map { _ in try StoreFixture() }
    let stores = fixtures.map(\.store)
    // One knows only the exported one, one only the app's, and one neither.
    try await stores[0].delete(exported)
    try await stores[1].delete(original)
    try restore([exported], into: stores[0])
    try restore([original], into: stores[1])
    for _ in 0..<3 {
      for one in stores {
        for other in stores { try await one.apply([other.feed.codedChanges(since: .zero, limit: 100).changes]) }
      }
    }
    for one in stores {
      #expect(
        try await present(one).map(\.uuid) == [SampleIdentity.uuid(ofRestored: exported.uuid, ordinal: 0)])
      #expect(try await one.digests.deep().record == stores[0].digests.deep().record)
    }
  }

  @Test func aTwinOfWhatIsBroughtBackStays() async throws {
    let (exported, original) = (ExportedSample().sample(), ExportedSample().original())
    let twin = ExportedSample().sample(ordinal: 1)
    try store.importExport([exported, twin])
    try await store.add(original)
    try await store.delete(original)
    #expect(try await present().count == 1)
    #expect(try restore([original]) == [1, 1])
    #expect(try await present().count == 2)
    #expect(try store.importExport([exported, twin]).total == .init(unchanged: 2))
  }

  @Test func aBackupOfWhatWasBroughtBackBringsTheSameBack() async throws {
    let sample = samples(0..<1)[0]
    try await store.delete(sample)
    try restore([sample])
    let restored = try await present()
    try await store.delete(restored[0])
    #expect(try restore(restored) == [1, 1])
    #expect(try restore([sample]) == [0, 0])
    #expect(
      try await present().map(\.uuid) == [SampleIdentity.uuid(ofRestored: sample.uuid, ordinal: 1)])
  }

  @Test func aNewerReadingIsHere() async throws {
    func summary(_ energy: String, _ seconds: Int64) -> Sample {
      var sample = Sample(
        uuid: SampleIdentity.namespace, type: SampleType("HKActivitySummaryType"), start: Timestamp(seconds: 0),
        end: Timestamp(seconds: 86_400), created: Timestamp(seconds: seconds), source: Source(name: ""),
        payload: .activitySummary(ActivitySummary(date: "1970-01-01", attributes: ["activeEnergyBurned": energy])))
      sample.uuid = SampleIdentity.uuid(ofReading: sample)
      return sample
    }
    let readings = (1...3).map { summary("\($0)", Int64($0)) }
    for reading in readings { try await store.add(readings: [reading]) }
    // As from a file that holds them as samples.
    for reading in readings { try await store.add(reading) }
    #expect(try await store.samples.page(of: readings[0].type, limit: 10) == [readings[2]])
    let restorer = SampleRestorer(store, SampleFilter(types: [readings[0].type]))
    #expect(try restorer.restore(coded(readings)).added == 0)
  }

  @Test func whatIsDeletedComesBackOnce() async throws {
    try store.importExport(samples(0..<5))
    try await store.delete(samples(1..<2)[0], samples(3..<4)[0])
    let before = try await store.contents().deleted
    #expect(try restore(samples(0..<6) + samples(3..<4)) == [2, 2])
    let expected = Set([1, 3].map { SampleIdentity.uuid(ofRestored: samples(0..<5)[$0].uuid, ordinal: 0) })
    #expect(Set(try await present().map(\.uuid)) == expected.union([0, 2, 4].map { samples(0..<5)[$0].uuid }))
    #expect(try await present().map(\.start).sorted() == samples(0..<5).map(\.start))
    #expect(try await store.contents().deleted == before)
    // It is here now, and nothing is doubled.
    #expect(try restore(samples(0..<6)) == [0, 0])
    #expect(try store.importExport(samples(0..<5)).total == .init(unchanged: 5))
  }

  @Test func onlyOfTheTypeAndTheRange() async throws {
    let other = ExportedSample(minute: 2, type: SampleType("other")).sample()
    try await store.delete(other, samples(1..<2)[0], samples(2..<3)[0], samples(3..<4)[0])
    let range = samples(2..<3)[0].start..<samples(3..<4)[0].start
    #expect(try restore(samples(0..<5) + [other], in: range) == [1, 1])
    #expect(try await present().map(\.start) == [samples(2..<3)[0].start])
    #expect(try await store.samples.typeCounts() == [TypeCount(type: type, samples: 1)])
  }

  @Test func deletedAgainItComesBackUnderTheNextIdentity() async throws {
    let sample = samples(0..<1)[0]
    try await store.delete(sample)
    for ordinal in 0..<3 {
      #expect(try restore([sample]) == [1, 1])
      let restored = try await present()[0]
      #expect(restored.uuid == SampleIdentity.uuid(ofRestored: sample.uuid, ordinal: ordinal))
      try await store.delete(restored)
    }
    #expect(try store.importExport([sample]).total == .init(refused: 1))
  }

  @Test func twinsComeBackByTheirValues() async throws {
    var twins = [1.0, 2, 3].map { ExportedSample(value: $0).sample() }
    let group = TwinGroup(key: ExportedSample().key, samples: twins)
    try store.importExport([], twins: [group])
    twins = group.byRank()
    try await store.delete(twins[1])
    #expect(try store.importExport([], twins: [group]).total == .init(unchanged: 2, refused: 1))
    #expect(try restore([], twins: [group]) == [1, 1])
    #expect(try await store.values() == [1, 2, 3])
    #expect(try store.importExport([], twins: [group]).total == .init(unchanged: 3))
    #expect(try await store.values() == [1, 2, 3])
  }

  /// A reader holds back a sample that may have a twin, and delivers it as a group.
  @Test func aGroupOfOneComesBack() async throws {
    let sample = ExportedSample(value: 5).sample()
    let group = TwinGroup(key: ExportedSample().key, samples: [sample])
    try store.importExport([], twins: [group])
    try await store.delete(sample)
    #expect(try restore([], twins: [group]) == [1, 1])
    #expect(try await store.values() == [5])
    #expect(try store.importExport([], twins: [group]).total == .init(unchanged: 1))
  }

  /// A restored twin keeps its place among twins that are still deleted.
  @Test func twinsOfWhichSomeAreBackKeepTheirPlaces() async throws {
    let twins = [1.0, 2, 3].map { ExportedSample(value: $0).sample() }
    let group = TwinGroup(key: ExportedSample().key, samples: twins)
    try store.importExport([], twins: [group])
    for sample in group.byRank() { try await store.delete(sample) }
    let partial = TwinGroup(key: group.key, samples: [twins[0], twins[1]])
    #expect(try restore([], twins: [partial]) == [2, 2])
    // Ranks begin with another one now.
    let later = TwinGroup(key: group.key, samples: [twins[1], twins[2]])
    #expect(try store.importExport([], twins: [later]).total == .init(unchanged: 1, refused: 1))
    #expect(try restore([], twins: [later]) == [1, 1])
    #expect(try await store.values() == [1, 2, 3])
    #expect(try store.importExport([], twins: [group]).total == .init(unchanged: 3))
  }

  @Test(arguments: [true, false])
  func aSnapshotTakesWhatWasBroughtBack(isExport: Bool) async throws {
    let file = samples(0..<3)
    try store.importExport(file)
    try await store.delete(file[1])
    try SampleRestorer(store, .everything, isExport: isExport).restore(coded(file))
    if !isExport {
      // It came from somewhere else, and now an export has it too.
      try store.importExport([file[0], file[2]], snapshotOf: [type])
      #expect(try await present().count == 3)
    }
    #expect(try store.importExport(file, snapshotOf: [type]).total == .init(unchanged: 3))
    try store.importExport([file[0], file[2]], snapshotOf: [type])
    #expect(try await present().map(\.start).sorted() == [file[0].start, file[2].start])
    #expect(try store.importExport(file).total == .init(unchanged: 2, refused: 1))
  }

  @Test func theAuditLogHasItInTheSameTransaction() async throws {
    try await store.delete(samples(0..<1)[0], samples(1..<2)[0])
    let changes = try coded(samples(0..<5))
    let restorer = SampleRestorer(store, SampleFilter(types: [type]))
    try restorer.restore(changes) { AuditEvent(.restored, ["count": "\($1) \($0.shortName)"]) }
    try restorer.restore(changes) { AuditEvent(.restored, ["count": "\($1) \($0.shortName)"]) }
    #expect(try await store.audit.records().map(\.detail) == [["count": "2 \(type.shortName)"]])
  }

  @Test func oneSourceComesBackAcrossTypes() async throws {
    var others = (0..<3).map {
      ExportedSample(minute: $0, type: SampleType("HKQuantityTypeIdentifierBodyMass")).sample()
    }
    for index in others.indices { others[index].source.name = index == 0 ? samples(0..<1)[0].source.name : "scales" }
    let all = samples(0..<2) + others
    for sample in all {
      try await store.add(sample)
      try await store.delete(sample)
    }
    let restorer = SampleRestorer(store, SampleFilter(sources: [all[0].source.name]))
    try restorer.survey(coded(all))
    #expect(restorer.found == 3 && restorer.found(type) == 2 && restorer.found(others[0].type) == 1)
    #expect(restorer.extents[others[0].type] == others[0].start...others[0].start)
    let summary = try restorer.restore(coded(all))
    #expect(summary.added == 3 && summary.types[type]?.added == 2)
    #expect(try await store.samples.sourceNames() == [all[0].source.name, "scales"])
    #expect(try await store.samples.count(of: others[0].type, in: nil) == 1)
  }

  @Test func linksLeadToWhatWasBroughtBack() async throws {
    let workout = ExportedSample(type: .workout).sample()
    var route = ExportedSample(minute: 1, type: .workoutRoute).sample()
    route.payload = .workoutRoute(WorkoutRoute(workout: workout.reference, path: "/a.gpx"))
    try await store.add(workout, route)
    try await store.delete(workout)
    #expect(try await store.samples.sample(workout.reference) == nil)
    #expect(try await store.samples.routes().map(\.workout) == [workout.reference])
    try SampleRestorer(store, SampleFilter(types: [.workout])).restore(coded([workout]))
    let restored = try #require(try await store.samples.page(of: .workout, limit: 2).first)
    #expect(try await store.samples.sample(workout.reference) == restored)
    #expect(try await store.samples.routes().map(\.workout) == [restored.reference])
  }

  /// Machines that import, delete, restore and pull in any order end up with the same samples and no duplicates.
  @Test(arguments: 0..<30)
  func machinesAgree(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let stores = try (0..<3).map { _ in try StoreFixture() }
    let file = samples(0..<12)
    for _ in 0..<30 {
      let store = random.pick(stores).store
      let some = file.filter { _ in random.oneIn(2) }
      switch Int.random(in: 0..<4, using: &random) {
      case 0: try store.importExport(some)
      case 1:
        let here = try await present(store)
        let doomed = here.filter { _ in random.oneIn(3) }
        try await store.apply(ChangeBatch(deletions: doomed.map { $0.tombstone() }))
      case 2:
        try restore(some, into: store)
        let starts = Set(try await present(store).map(\.start))
        let deleted = Set(try await store.contents().deleted.map(\.uuid))
        for sample in some where deleted.contains(sample.uuid) {
          #expect(starts.contains(sample.start), "seed \(seed)")
        }
      default:
        try await store.apply([random.pick(stores).store.feed.codedChanges(since: .zero, limit: 1_000).changes])
      }
      let starts = try await present(store).map(\.start)
      #expect(starts.count == Set(starts).count, "seed \(seed): twice")
    }
    for _ in 0..<2 {
      for one in stores {
        for other in stores {
          try await one.store.apply([other.store.feed.codedChanges(since: .zero, limit: 10_000).changes])
        }
      }
    }
    let digest = try await stores[0].store.digests.deep().record
    for other in stores { #expect(try await other.store.digests.deep().record == digest, "seed \(seed)") }
  }
}
