import Foundation
import HealthModel
import HealthStore
import Testing

/// Tests of a sample that comes from an app, with HealthKit's UUID, and from an export, without.
@Suite struct CounterpartTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }
  private let type = ExportedSample().type

  init() throws { fixture = try StoreFixture() }

  private func present() async throws -> [Sample] { try await store.samples.page(of: type, limit: 100) }

  @Test(arguments: [true, false])
  func theExportedOneIsShownAndTheOtherIsKept(importsFirst: Bool) async throws {
    let (exported, original) = (ExportedSample().sample(), ExportedSample().original())
    if importsFirst { try store.importExport([exported]) }
    try await store.add(original)
    if !importsFirst { #expect(try store.importExport([exported]).total == .init(added: 1)) }
    #expect(try store.importExport([exported]).total == .init(unchanged: 1))
    #expect(try await present() == [exported])
    #expect(try await store.samples.sample(original.reference) == exported)
    #expect(try await store.contents().samples == [exported.text(), original.text()])
    #expect(try await store.contents().deleted.isEmpty)
    #expect(try await store.samples.typeCounts() == [TypeCount(type: type, samples: 1)])
    let all = SampleFilter(earliest: Timestamp(seconds: 0))
    #expect(try await store.samples.typeCounts(all) == [TypeCount(type: type, samples: 1)])
    #expect(try await store.samples.count(of: type, in: all.range) == 1)
    #expect(try await store.samples.extent(of: type) == exported.start...exported.start)
  }

  @Test func whatAnExportSaysTwiceCountsOnce() async throws {
    let (exported, original) = (ExportedSample().sample(), ExportedSample().original())
    try await store.add(original)
    #expect(try store.importExport([exported, exported]).total == .init(added: 1))
    #expect(try store.importExport([exported, exported]).total == .init(unchanged: 1))
    let deleted = ExportedSample(minute: 5).sample()
    #expect(try store.importExport([deleted, deleted]).total == .init(added: 1))
    #expect(
      try await store.samples.delete(type, in: deleted.start..<Timestamp(seconds: deleted.start.seconds + 1)) == 1)
    for _ in 0..<2 {
      #expect(try store.importExport([deleted, exported, deleted]).total == .init(unchanged: 1, refused: 1))
    }
  }

  @Test func bothWaysEndAlikeAndAgree() async throws {
    let otherFixture = try StoreFixture()
    let other = otherFixture.store
    let (exported, original) = (ExportedSample().sample(), ExportedSample().original())
    try store.importExport([exported])
    try await other.add(original)
    for _ in 0..<2 {
      try await store.apply([other.feed.codedChanges(since: .zero, limit: 100).changes])
      try await other.apply([store.feed.codedChanges(since: .zero, limit: 100).changes])
    }
    #expect(try await store.contents() == other.contents())
    #expect(try await store.digests.current().record == other.digests.current().record)
    #expect(try await present() == [exported])
    #expect(try await other.samples.page(of: type, limit: 100) == [exported])
  }

  @Test(arguments: [
    ExportedSample(minute: 1), ExportedSample(value: 61), ExportedSample(value: 61, source: "Phone"),
    ExportedSample(type: SampleType("HKQuantityTypeIdentifierRespiratoryRate")),
  ])
  func whatDiffersIsAnother(other: ExportedSample) async throws {
    try await store.add(ExportedSample().original())
    #expect(try store.importExport([other.sample()]).added == 1)
    #expect(try await store.samples.typeCounts().map(\.samples).reduce(0, +) == 2)
  }

  @Test func anotherUnitIsTheSame() async throws {
    let distance = SampleType("HKQuantityTypeIdentifierDistanceWalkingRunning")
    try await store.add(ExportedSample(value: 1.234567891, unit: "km", type: distance).original())
    let miles = ExportedSample(value: 0.767126, unit: "mi", type: distance).sample()
    try store.importExport([miles])
    #expect(try await store.samples.page(of: distance, limit: 10) == [miles])
  }

  @Test(arguments: [true, false])
  func twoEqualRecordsAreTwo(importsFirst: Bool) async throws {
    let exported = ExportedSample()
    let twins = TwinGroup(key: exported.key, samples: [exported.sample(), exported.sample()])
    let originals = [exported.original(offset: 1), exported.original(offset: 2)]
    if importsFirst { try store.importExport([], twins: [twins]) }
    try await store.add(originals[0])
    if !importsFirst { try store.importExport([], twins: [twins]) }
    #expect(try await present().count == 2)
    try await store.add(originals[1])
    #expect(Set(try await present().map(\.uuid)) == Set(twins.byRank().map(\.uuid)))
    #expect(try store.importExport([], twins: [twins]).added == 0)
    #expect(try await present().count == 2)
  }

  @Test func whatIsDeletedOnThePhoneStaysDeletedAfterAnImport() async throws {
    let (exported, original) = (ExportedSample().sample(), ExportedSample().original())
    try store.importExport([exported])
    try await store.add(original)
    try await store.delete(original)
    #expect(try await present().isEmpty)
    #expect(try store.importExport([exported]).added == 0)
    #expect(try await present().isEmpty)
    #expect(try await store.samples.typeCounts().isEmpty)
    #expect(try await store.samples.extent(of: type) == nil)
  }

  @Test func categoriesAndWorkoutsHaveOriginalsToo() async throws {
    var sleep = ExportedSample(type: SampleType("HKCategoryTypeIdentifierSleepAnalysis"))
    var run = ExportedSample(type: .workout)
    (sleep.minute, run.minute) = (1, 2)
    for (exported, payload, fuller) in [
      (sleep, Payload.category(CategoryValue(value: 3)), Payload.category(CategoryValue(value: 3))),
      (
        run, .workout(Workout(activityType: .name("HKWorkoutActivityTypeRunning"), duration: 60)),
        .workout(Workout(activityType: .name("HKWorkoutActivityTypeRunning"), duration: 60.25))
      ),
    ] {
      var (old, new) = (exported.sample(), exported.original())
      (old.payload, new.payload) = (payload, fuller)
      try store.importExport([old])
      try await store.add(new)
      #expect(try await store.samples.page(of: exported.type, limit: 10).map(\.uuid) == [old.uuid])
    }
  }
}
