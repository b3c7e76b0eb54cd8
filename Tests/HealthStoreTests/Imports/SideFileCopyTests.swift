import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// A sample of a whole export, and the same from one that came without the files beside its XML.
@Suite struct SideFileCopyTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  struct Pair: Sendable, CustomTestStringConvertible {
    var full: Sample
    var bare: Sample
    var testDescription: String { full.payload.kind }

    private init(_ sample: Sample, _ kinds: (full: String, bare: String), _ payloads: (full: Payload, bare: Payload)) {
      (full, bare) = (sample, sample)
      (full.payload, bare.payload) = payloads
      full.uuid = SampleKey(kind: kinds.full, sample: sample).uuid(ordinal: 0)
      bare.uuid = SampleKey(kind: kinds.bare, sample: sample).uuid(ordinal: 0)
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

  private func present(_ type: SampleType) async throws -> [Sample] { try await store.samples(of: type, limit: 100) }

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
      try await store.apply([other.codedChanges(since: .zero, limit: 100).changes])
      try await other.apply([store.codedChanges(since: .zero, limit: 100).changes])
    }
    #expect(try await store.deepDigest().record == other.deepDigest().record)
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
}
