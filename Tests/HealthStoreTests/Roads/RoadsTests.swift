import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests that a sample that came by several roads is shown once, and that nothing is deleted for it.
@Suite struct RoadsTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }
  private let type = ExportedSample().type
  private let whole = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)

  init() throws { fixture = try StoreFixture() }

  private func shown(_ store: HealthStore? = nil) async throws -> [UUID] {
    try await (store ?? self.store).samples.page(of: type, limit: 1_000).map(\.uuid)
  }

  /// Copies the content of a store to another, as a pull does.
  private func pull(_ store: HealthStore, from other: HealthStore, _ filter: SampleFilter = .everything) async throws {
    try await store.apply([other.feed.codedChanges(since: .zero, filter: filter, cut: filter.cut, limit: 1_000).changes]
    )
  }

  // MARK: Equal samples

  /// The program that writes a sample to HealthKit chooses its UUID, which may be of version 5.
  @Test(arguments: [false, true])
  func anAppsUUIDsMayLookDerived(appFirst: Bool) async throws {
    let exported = (0..<3).map { ExportedSample(minute: $0).sample() }
    var coder = ChangeCoder()
    for minute in 0..<3 {
      let uuid = SampleIdentity.uuid(ofRestored: UUID(), ordinal: 0)
      #expect(uuid.isDerived)
      try coder.add(ExportedSample(minute: minute).original(uuid, offset: 0), road: .healthAppTransfer)
    }
    if appFirst { try await store.apply([coder.changes]) }
    try store.importExport(exported)
    if !appFirst { try await store.apply([coder.changes]) }
    #expect(try await Set(shown()) == Set(exported.map(\.uuid)))
    #expect(try await HealthStore.checkIntegrity(directory: fixture.directory.path).findings == [])
    let other = try StoreFixture()
    try await pull(other.store, from: store)
    #expect(try await shown(other.store) == shown())
  }

  @Test func thePhoneHoldsTwoEqualSamplesAndAnOlderExportOne() async throws {
    let otherFixture = try StoreFixture()
    let other = otherFixture.store
    let exported = ExportedSample().sample()
    let originals = [ExportedSample().original(offset: 1), ExportedSample().original(offset: 2)]
    // Met in both orders.
    try store.importExport([exported])
    try await store.add(originals[0])
    #expect(try await shown() == [exported.uuid])
    try await store.add(originals[1])
    try await other.add(originals[1])
    try await other.add(originals[0])
    #expect(try await shown(other).count == 2)
    try other.importExport([exported])
    for one in [store, other] {
      let shown = try await shown(one)
      #expect(shown.count == 2 && shown.contains(exported.uuid))
    }
    try await pull(store, from: other)
    try await pull(other, from: store)
    #expect(try await shown() == shown(other))
    #expect(try await store.digests.current().record == other.digests.current().record)

    // The phone then deletes one of them, whichever: one is left, also where only the export has it.
    for original in originals {
      let copyFixture = try StoreFixture()
      try await pull(copyFixture.store, from: store)
      try await copyFixture.store.delete(original)
      #expect(try await shown(copyFixture.store) == [exported.uuid])
    }
    try await store.delete(originals[0], originals[1])
    #expect(try await shown().isEmpty)
    try await pull(other, from: store)
    #expect(try await shown(other).isEmpty)
    #expect(try await other.samples.typeCounts().isEmpty)
  }

  @Test func whatWasDeletedHereBeforeThePhoneCameStaysDeleted() async throws {
    try store.importExport([ExportedSample().sample(), ExportedSample(minute: 1).sample()])
    let second = ExportedSample().sample().start
    #expect(try await store.samples.delete(type, in: second..<Timestamp(seconds: second.seconds + 1)) == 1)
    let otherFixture = try StoreFixture()
    try await pull(otherFixture.store, from: store)
    for one in [store, otherFixture.store] {
      try await one.add(ExportedSample().original(), ExportedSample(minute: 1).original())
      #expect(try await shown(one) == [ExportedSample(minute: 1).sample().uuid])
    }
  }

  @Test func aDeletedSampleIsToldOfByItsTombstone() async throws {
    try store.importExport([ExportedSample().sample()])
    _ = try await store.samples.delete(type, in: whole)
    let tombstones = try await store.allChanges().compactMap { change in
      if case .deleted(let tombstone) = change { tombstone } else { nil }
    }
    let sample = ExportedSample().sample()
    #expect(tombstones.map(\.end) == [sample.end])
    #expect(tombstones.map(\.source) == ["Watch"])
    #expect(tombstones.map(\.road) == [.appleExport])
    // Who deletes something wants it gone.
    #expect(tombstones.map(\.hint) == [nil])
    // Somebody who knew less learns of it.
    let otherFixture = try StoreFixture()
    try await otherFixture.store.apply(
      ChangeBatch(deletions: [Tombstone(sample: sample.reference, deleted: tombstones[0].deleted)]))
    try await pull(otherFixture.store, from: store)
    #expect(try await otherFixture.store.allChanges() == store.allChanges())
  }

  /// An app writes a daily total repeatedly. The old values, with the same start and end, are deleted.
  @Test func aValueThatWasWrittenAnewIsNotTakenForTheOldOne() async throws {
    for value in 1...20 {
      try store.importExport(
        [ExportedSample(value: Double(value * 7), created: Int64(value)).sample()], snapshotOf: [type])
    }
    #expect(try await store.values() == [140])
    let newest = ExportedSample(value: 150, created: 21).original()
    try await store.add(newest)
    #expect(try await store.values() == [140, 150])
    // The same that the last export has.
    try await store.add(ExportedSample(value: 140, created: 20).original())
    #expect(try await store.values() == [140, 150])
    // One that was deleted before it came from the phone.
    try await store.add(ExportedSample(value: 70, created: 10).original())
    #expect(try await store.values() == [140, 150])
  }

  // MARK: Scopes

  @Test func aScopeBetweenASubsecondStartAndItsWholeSecond() async throws {
    let (exported, original) = (ExportedSample().sample(), ExportedSample().original(offset: 600_000))
    try store.importExport([exported])
    try await store.add(original)
    for offset: Int64 in [0, 1, 500_000, 600_000, 600_001, 999_999, 1_000_000] {
      let bound = Timestamp(microseconds: exported.start.microseconds + offset)
      for filter in [SampleFilter(earliest: bound), SampleFilter(end: bound)] {
        let seen = try await store.allChanges(filter: filter)
        #expect(seen.isEmpty || seen.count == 2, "\(offset)")
        let otherFixture = try StoreFixture()
        try await pull(otherFixture.store, from: store, filter)
        #expect(try await shown(otherFixture.store) == (seen.isEmpty ? [] : [exported.uuid]))
        #expect(try await store.digests.current(filter).record == otherFixture.store.digests.current(filter).record)
      }
      // Neither is in both, and none is in neither.
      let halves = [SampleFilter(earliest: bound), SampleFilter(end: bound)].map { $0.passes(original.reference) }
      #expect(halves.count { $0 } == 1)
    }
  }

  // MARK: Copies of one sample

  @Test(arguments: [true, false])
  func aHealthKitUUIDIsOneSampleWhateverStartARoadPrints(coarseFirst: Bool) async throws {
    let otherFixture = try StoreFixture()
    let fine = ExportedSample().original(offset: 600_000)
    for offset: Int64 in [-600_000, 400_000] {
      let uuid = UUID()
      var copies = [fine, fine]
      for index in copies.indices { copies[index].uuid = uuid }
      copies[1].start.microseconds += offset
      copies[1].end.microseconds += offset
      if coarseFirst { copies.reverse() }
      for (index, one) in [store, otherFixture.store].enumerated() {
        try await one.add(copies[index])
        try await one.add(copies[1 - index])
        let stored = try await one.samples.page(of: type, limit: 10).filter { $0.uuid == uuid }
        #expect(stored.map(\.start) == [fine.start])
        #expect(stored.map(\.end) == [fine.end])
      }
      try await store.delete(copies[1])
      #expect(try await !shown().contains(uuid))
      try await store.add(copies[0])
      #expect(try await !shown().contains(uuid))
      try await pull(otherFixture.store, from: store)
      #expect(try await !shown(otherFixture.store).contains(uuid))
    }
    #expect(try await store.digests.current().record == otherFixture.store.digests.current().record)
    #expect(try await HealthStore.checkIntegrity(directory: fixture.directory.path).findings == [])
  }

  @Test(arguments: 0..<6)
  func ofUnequalCopiesTheBetterStays(permutation: Int) async throws {
    let uuid = UUID()
    var (poor, rich, export) = (
      ExportedSample().original(uuid), ExportedSample().original(uuid), ExportedSample().sample()
    )
    rich.metadata["HKWasUserEntered"] = .bool(true)
    export.uuid = uuid
    export.device = Device(name: "Watch")
    let copies = [
      (poor, SampleRoad.healthAppTransfer), (rich, .healthAppTransfer), (export, .appleExport),
    ]
    var order = Array(copies.indices)
    order.swapAt(0, permutation % 3)
    if permutation >= 3 { order.swapAt(1, 2) }
    for index in order {
      var coder = ChangeCoder()
      try coder.add(copies[index].0, road: copies[index].1)
      try await store.apply([coder.changes])
    }
    var expected = export
    (expected.start, expected.end) = (poor.start, poor.end)
    #expect(try await store.samples.page(of: type, limit: 10) == [expected])
    #expect(try await store.samples.typeCounts().map(\.samples) == [1])
  }

  /// Health Auto Export's UUIDs are derived, too, although the app is neither an export nor HealthKit.
  @Test func aWorkoutOfHealthAutoExportIsTheExportedOne() async throws {
    let exported = ExportedSample(type: .workout)
    var samples = [exported.sample(), exported.sample(ordinal: 7), exported.original()]
    for index in samples.indices {
      samples[index].payload = .workout(Workout(activityType: .name("HKWorkoutActivityTypeRunning"), duration: 60))
    }
    let writer = try ImportWriter(store, named: "auto.json", road: .healthAutoExport)
    var coder = ChangeCoder()
    try coder.add(samples[1])
    try writer.write(coder.changes)
    #expect(try await store.samples.page(of: .workout, limit: 10) == [samples[1]])
    try await store.add(samples[2])
    #expect(try await store.samples.page(of: .workout, limit: 10) == [samples[2]])
    try store.importExport([samples[0]])
    #expect(try await store.samples.page(of: .workout, limit: 10) == [samples[0]])
  }

  // MARK: What people and programs on this machine see

  @Test func aConsumerSeesWhatBecomesHiddenAsADeletion() async throws {
    let consumer = try await store.consumer("mirror")
    var mirror = Mirror()
    let (exported, original) = (ExportedSample().sample(), ExportedSample().original())
    func expect(_ samples: [Sample]) async throws {
      try await mirror.catchUp(consumer, ofAtMost: 1)
      #expect(Set(mirror.samples.values) == Set(samples))
    }
    try await store.add(original)
    try await expect([original])
    try store.importExport([exported])
    try await expect([exported])
    // Shown again.
    _ = try await store.imports.undoLast(isDryRun: false)
    try await expect([original])
    try store.importExport([exported])
    try await expect([exported])
    try await store.delete(original)
    try await expect([])
    try await store.apply(ChangeBatch(additions: [ExportedSample().original(offset: 3)]))
    try await expect([exported])
    #expect(mirror.startedOver == 0)
    // One that comes later has what is shown.
    var late = Mirror()
    try await late.catchUp(try await store.consumer("late"), ofAtMost: 1)
    #expect(late.samples == mirror.samples)
  }

  @Test func anImportThatIsUndoneShowsWhatItHid() async throws {
    let (exported, original) = (ExportedSample().sample(), ExportedSample().original())
    try await store.add(original)
    try store.importExport([exported])
    #expect(try await shown() == [exported.uuid])
    _ = try await store.imports.undoLast(isDryRun: false)
    #expect(try await shown() == [original.uuid])
    #expect(try await HealthStore.checkIntegrity(directory: fixture.directory.path).findings == [])
    try store.importExport([exported])
    #expect(try await shown() == [exported.uuid])
  }

  @Test func whatIsDeletedHereGoesWithWhatIsHiddenBehindIt() async throws {
    try store.importExport([ExportedSample().sample()])
    try await store.add(ExportedSample().original())
    #expect(try await store.samples.delete(type, in: whole) == 1)
    #expect(try await store.contents().samples.isEmpty)
    #expect(try await store.contents().deleted.count == 2)
  }

  @Test func tombstonesThatHideSomethingAreNotForgotten() async throws {
    let (exported, original) = (ExportedSample().sample(), ExportedSample().original())
    try store.importExport([exported])
    try await store.add(original)
    try await store.delete(original, ExportedSample(minute: 9).original())
    #expect(try await store.feed.pruneTombstones(before: Timestamp(microseconds: .max)) == 1)
    #expect(try await shown().isEmpty)
  }

  /// A hostile machine sends a large number of samples in a single second: each batch costs no more than its own
  /// size, and nothing is hidden.
  @Test func tooManySamplesOfOneSecondAreAllShown() async throws {
    try store.importExport([ExportedSample().sample()])
    for _ in 0..<4 {
      try await store.apply(ChangeBatch(additions: (0..<100).map { ExportedSample().original(offset: $0) }))
    }
    #expect(try await shown().count == 401)
    #expect(try await store.samples.delete(type, in: whole) == 401)
  }

  @Test func aRouteHasTheWorkoutThatIsShown() async throws {
    let running = Payload.workout(Workout(activityType: .name("HKWorkoutActivityTypeRunning"), duration: 60))
    var (exported, original) = (
      ExportedSample(type: .workout).sample(), ExportedSample(type: .workout).original(offset: 999_999)
    )
    (exported.payload, original.payload) = (running, running)
    var route = ExportedSample(minute: 1, type: .workoutRoute).original()
    route.payload = .workoutRoute(
      WorkoutRoute(workout: original.reference, points: [RoutePoint(latitude: 1, longitude: 2)]))
    try await store.add(original, route)
    try store.importExport([exported])
    #expect(try await store.samples.routes().map(\.workout) == [exported.reference])
    #expect(try await store.samples.sample(original.reference) == exported)
  }
}
