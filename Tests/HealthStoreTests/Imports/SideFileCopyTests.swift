import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests of a sample from a complete export, and its copy from an export without the files beside the XML.
@Suite struct SideFileCopyTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  struct Pair: Sendable, CustomTestStringConvertible {
    var full: Sample
    var bare: Sample
    /// The keys of the sample with its file and of the sample without.
    var keys: (full: SampleKey, bare: SampleKey)
    var testDescription: String { full.payload.kind }
    /// The identities that the reader of an export gives both.
    var identities: [UUID: SideFileIdentity] {
      [
        full.uuid: SideFileIdentity(uuid: bare.uuid, isBare: true),
        bare.uuid: SideFileIdentity(uuid: full.uuid, isBare: false),
      ]
    }

    private init(_ sample: Sample, _ kinds: (full: String, bare: String), _ payloads: (full: Payload, bare: Payload)) {
      (full, bare) = (sample, sample)
      (full.payload, bare.payload) = payloads
      keys = (SampleKey(kind: kinds.full, sample: sample), SampleKey(kind: kinds.bare, sample: sample))
      (full.uuid, bare.uuid) = (keys.full.uuid(ordinal: 0), keys.bare.uuid(ordinal: 0))
    }

    static func route(minute: Int = 0, workout: UUID = SampleIdentity.namespace) -> Pair {
      let sample = ExportedSample(minute: minute, type: .workoutRoute).sample()
      let workout = SampleReference(
        type: SampleType("HKWorkoutTypeIdentifier"), start: sample.start, uuid: workout)
      let points = [RoutePoint(time: 0, latitude: 52.5, longitude: 13.4), RoutePoint(latitude: 52.6, longitude: 13.5)]
      return Pair(
        sample, ("WorkoutRoute", "WorkoutRoute:empty"),
        (
          .workoutRoute(WorkoutRoute(workout: workout, path: "/a.gpx", points: points)),
          .workoutRoute(WorkoutRoute(workout: workout, path: "/b.gpx"))
        ))
    }

    static func record(_ identifier: String = "A1") -> Pair {
      let sample = ExportedSample(type: SampleType("HKClinicalTypeIdentifierLabResultRecord")).sample()
      return Pair(
        sample, ("ClinicalRecord:\(identifier):resource", "ClinicalRecord:\(identifier)"),
        (
          .clinicalRecord(ClinicalRecord(identifier: identifier, resource: .object(["value": .number(5.5)]))),
          .clinicalRecord(ClinicalRecord(identifier: identifier))
        ))
    }
  }

  static let pairs: [Pair] = [.route(), .record()]

  private func present(_ type: SampleType) async throws -> [Sample] {
    try await store.samples.page(of: type, limit: 100)
  }

  @Test(arguments: pairs)
  func aWholeExportAloneDeletesNothing(pair: Pair) async throws {
    #expect(try store.importExport([pair.full]).total == .init(added: 1))
    #expect(try await store.contents().deleted.isEmpty)
  }

  @Test(arguments: pairs)
  func theFullTakesThePlaceOfTheBare(pair: Pair) async throws {
    try store.importExport([pair.bare])
    #expect(try store.importExport([pair.full]).total == .init(added: 1, deleted: 1))
    #expect(try await present(pair.full.type) == [pair.full])
    #expect(try await store.contents().deleted == [pair.bare.reference])
    // And it does not come back.
    #expect(try store.importExport([pair.bare]).total == .init(unchanged: 1))
    #expect(try await present(pair.full.type) == [pair.full])
  }

  @Test(arguments: pairs)
  func theBareDoesNotComeBesideTheFull(pair: Pair) async throws {
    try store.importExport([pair.full])
    #expect(try store.importExport([pair.bare]).total == .init(unchanged: 1))
    #expect(try await present(pair.full.type) == [pair.full])
    #expect(try await store.contents().deleted.isEmpty)
  }

  @Test(arguments: pairs)
  func aSnapshotWithoutFilesSparesTheFull(pair: Pair) async throws {
    try store.importExport([pair.full])
    try store.importExport([pair.bare], snapshotOf: [pair.full.type])
    #expect(try await present(pair.full.type) == [pair.full])
  }

  @Test(arguments: pairs)
  func storesThatMetThemApartAgree(pair: Pair) async throws {
    let otherFixture = try StoreFixture()
    let other = otherFixture.store
    try store.importExport([pair.full])
    try other.importExport([pair.bare])
    for _ in 0..<2 {
      try await store.apply([other.feed.codedChanges(since: .zero, limit: 100).changes])
      try await other.apply([store.feed.codedChanges(since: .zero, limit: 100).changes])
    }
    #expect(try await store.digests.deep().record == other.digests.deep().record)
    #expect(try await present(pair.full.type) == [pair.full])
  }

  @Test func ofAnotherWorkoutOrIdentifierItIsAnother() async throws {
    try store.importExport([Pair.route().full, Pair.record().full])
    try store.importExport([Pair.route(workout: UUID()).bare, Pair.record("B2").bare])
    #expect(try await present(.workoutRoute).count == 2)
    #expect(try await present(Pair.record().full.type).count == 2)
  }

  @Test func ofAnotherMomentItIsAnother() async throws {
    try store.importExport([Pair.route(minute: 1).full])
    #expect(try store.importExport([Pair.route().bare]).added == 1)
    #expect(try await present(.workoutRoute).count == 2)
  }

  @Test(arguments: pairs)
  func theReaderKnowsBothIdentities(pair: Pair) {
    let other = { (key: SampleKey, sample: Sample) in key.sideFileIdentity(sample.payload, ordinal: 0) }
    #expect(other(pair.keys.full, pair.full) == pair.identities[pair.full.uuid])
    #expect(other(pair.keys.bare, pair.bare) == pair.identities[pair.bare.uuid])
    #expect(other(pair.keys.full, pair.bare) == nil)
  }

  private let always = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)

  @Test(arguments: pairs)
  func deletedWithItsFileItDoesNotComeBackWithout(pair: Pair) async throws {
    try store.importExport([pair.full], sideFiles: pair.identities)
    // Another machine sends the deletion, and nothing of the other identity.
    try await store.delete(pair.full)
    #expect(try store.importExport([pair.bare], sideFiles: pair.identities).total == .init(refused: 1))
    let group = TwinGroup(key: pair.keys.bare, samples: [pair.bare])
    #expect(try store.importExport([], twins: [group]).total == .init(refused: 1))
    #expect(try await present(pair.full.type).isEmpty)
  }

  @Test(arguments: pairs)
  func whoDeletesItDeletesItWithoutItsFileToo(pair: Pair) async throws {
    let otherFixture = try StoreFixture()
    let other = otherFixture.store
    try store.importExport([pair.full])
    try other.importExport([pair.bare])
    #expect(try await store.samples.delete(pair.full.type, in: always) == 1)
    #expect(Set(try await store.contents().deleted) == [pair.full.reference, pair.bare.reference])
    // A machine that has read only the XML deletes what it has, and does not bring it back here.
    try await store.apply([other.feed.codedChanges(since: .zero, limit: 100).changes])
    try await other.apply([store.feed.codedChanges(since: .zero, limit: 100).changes])
    #expect(try await present(pair.full.type).isEmpty)
    #expect(try await other.samples.page(of: pair.full.type, limit: 100).isEmpty)
    #expect(try store.importExport([pair.bare]).total == .init(refused: 1))
  }

  @Test(arguments: pairs)
  func deletedWithoutItsFileItDoesNotComeBackWithIt(pair: Pair) async throws {
    try store.importExport([pair.bare], sideFiles: pair.identities)
    #expect(try await store.samples.delete(pair.full.type, in: always) == 1)
    #expect(try store.importExport([pair.full], sideFiles: pair.identities).total == .init(refused: 1))
    #expect(try store.importExport([], twins: [TwinGroup(key: pair.keys.full, samples: [pair.full])]).refused == 1)
    // Nor from a machine that says nothing of the other identity.
    try await store.add(pair.full)
    #expect(try await present(pair.full.type).isEmpty)
  }

  @Test(arguments: pairs)
  func whoDeletesItWithoutItsFileDeletesItWithItElsewhere(pair: Pair) async throws {
    let otherFixture = try StoreFixture()
    let other = otherFixture.store
    try store.importExport([pair.bare])
    try other.importExport([pair.full])
    #expect(try await store.samples.delete(pair.full.type, in: always) == 1)
    for _ in 0..<2 {
      try await store.apply([other.feed.codedChanges(since: .zero, limit: 100).changes])
      try await other.apply([store.feed.codedChanges(since: .zero, limit: 100).changes])
    }
    for store in [store, other] { #expect(try await store.samples.page(of: pair.full.type, limit: 100).isEmpty) }
    #expect(try await store.digests.deep().record == other.digests.deep().record)
  }

  @Test(arguments: pairs)
  func broughtBackWithoutItsFileItGetsThat(pair: Pair) async throws {
    try store.importExport([pair.bare], sideFiles: pair.identities)
    #expect(try await store.samples.delete(pair.full.type, in: always) == 1)
    var coder = ChangeCoder()
    try coder.add(pair.bare)
    #expect(try SampleRestorer(store, .everything).restore(coder.changes, twins: []).added == 1)
    try store.importExport([pair.full], sideFiles: pair.identities)
    #expect(try await present(pair.full.type).map(\.payload) == [pair.full.payload])
  }

  /// The order is an export without its files, a complete export, and a newer export of either kind with the same
  /// content.
  @Test(arguments: pairs, [true, false])
  func aSnapshotSparesWhatTookThePlaceOfTheBare(pair: Pair, isBare: Bool) async throws {
    try store.importExport([pair.bare], sideFiles: pair.identities)
    try store.importExport([pair.full], sideFiles: pair.identities)
    let newest = isBare ? pair.bare : pair.full
    let written = try store.importExport([newest], sideFiles: pair.identities, snapshotOf: [pair.full.type])
    #expect(written.total == .init(unchanged: 1))
    #expect(try await present(pair.full.type) == [pair.full])
    // What it does lack goes.
    try store.importExport([], snapshotOf: [pair.full.type])
    #expect(try await present(pair.full.type).isEmpty)
  }

  @Test(arguments: pairs)
  func aSnapshotDeletesBothIdentities(pair: Pair) async throws {
    try store.importExport([pair.full])
    try store.importExport([], snapshotOf: [pair.full.type])
    #expect(Set(try await store.contents().deleted) == [pair.full.reference, pair.bare.reference])
  }

  @Test(arguments: pairs)
  func whatAnAppSentToo(pair: Pair) async throws {
    var original = pair.full
    original.uuid = UUID()
    try store.importExport([pair.full], sideFiles: pair.identities)
    try await store.add(original)
    #expect(try store.importExport([pair.bare], sideFiles: pair.identities).total == .init(unchanged: 1))
    #expect(try await present(pair.full.type) == [pair.full])
  }

  @Test(arguments: pairs)
  func aTwinWhoseFileIsMissingIsAnother(pair: Pair) async throws {
    let twins = [
      TwinGroup(key: pair.keys.full, samples: [pair.full]), TwinGroup(key: pair.keys.bare, samples: [pair.bare]),
    ]
    // In whatever order, and again.
    for groups in [twins, twins.reversed(), twins] {
      try store.importExport([], twins: groups, snapshotOf: [pair.full.type])
      #expect(Set(try await present(pair.full.type).map(\.uuid)) == [pair.full.uuid, pair.bare.uuid])
    }
    // Without any files they are two still.
    let bare = TwinGroup(key: pair.keys.bare, samples: [pair.bare, pair.bare])
    #expect(try store.importExport([], twins: [bare]).total == .init(unchanged: 2))
    try await store.delete(pair.full)
    #expect(try store.importExport([], twins: [bare]).total == .init(unchanged: 1, refused: 1))
    #expect(try await present(pair.full.type) == [pair.bare])
  }

  @Test(arguments: pairs)
  func oneOfTwoWithoutTheirFilesGivesWay(pair: Pair) async throws {
    let bare = TwinGroup(key: pair.keys.bare, samples: [pair.bare, pair.bare])
    try store.importExport([], twins: [bare])
    let later = [
      TwinGroup(key: pair.keys.full, samples: [pair.full]), TwinGroup(key: pair.keys.bare, samples: [pair.bare]),
    ]
    #expect(
      try store.importExport([], twins: later, snapshotOf: [pair.full.type]).total
        == .init(added: 1, deleted: 1, unchanged: 1))
    #expect(try await present(pair.full.type).count == 2)
  }

  @Test func ofAnotherSourceItIsAnother() async throws {
    let pair = Pair.record()
    var other = pair.bare
    other.source.name = "Another clinic"
    other.uuid = SampleKey(kind: pair.keys.bare.kind, sample: other).uuid(ordinal: 0)
    try store.importExport([pair.full, other])
    #expect(try await present(pair.full.type).count == 2)
  }

  @Test(arguments: pairs)
  func underAnotherNameItIsTheSame(pair: Pair) async throws {
    var renamed = pair.full
    renamed.source.name = "Renamed"
    try store.importExport([pair.bare], sideFiles: pair.identities)
    #expect(try store.importExport([renamed], sideFiles: pair.identities).total == .init(added: 1, deleted: 1))
    #expect(try await present(pair.full.type) == [renamed])
  }
}
