import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@Suite struct PersonTests {
  private let fixture: StoreFixture
  private var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  private func reading(_ trait: Person.Trait, _ value: String, day: Int64?) -> Sample {
    var sample = Sample(
      uuid: SampleIdentity.namespace, type: trait.type, start: Timestamp(seconds: 0), end: Timestamp(seconds: 0),
      created: day.map { Timestamp(seconds: 1_700_000_000 + $0 * 86_400) }, source: Source(name: "Health"),
      payload: .characteristic(CharacteristicValue(value: value)))
    sample.uuid = SampleIdentity.uuid(ofReading: sample)
    return sample
  }

  @Test func anEmptyStoreIsNobodys() async throws {
    #expect(try await store.person() == Person())
    #expect(try await store.isEmpty())
    var maker = SampleMaker(seed: 1)
    try await store.add(maker.steps(at: 1))
    #expect(try await store.person() == Person())
    #expect(try await !store.isEmpty())
  }

  @Test func theNewestReadingsMakeThePerson() async throws {
    try await store.add(readings: [
      reading(.dateOfBirth, "1986-05-17", day: 1), reading(.biologicalSex, "HKBiologicalSexNotSet", day: 1),
      reading(.bloodType, "HKBloodTypeONegative", day: 1),
    ])
    var person = Person()
    (person[.dateOfBirth], person[.bloodType]) = ("1986-05-17", "HKBloodTypeONegative")
    #expect(try await store.person() == person)
    try await store.add(readings: [reading(.dateOfBirth, "1986-05-18", day: 2)])
    person[.dateOfBirth] = "1986-05-18"
    #expect(try await store.person() == person)
    try await store.add(readings: [reading(.dateOfBirth, "1986-05-17", day: 1)])
    #expect(try await store.person() == person)
  }

  /// Two machines imported independently, and then one pulled from the other.
  @Test func ofSeveralReadingsTheNewestCounts() async throws {
    try await store.add(
      reading(.dateOfBirth, "1986-05-18", day: 2), reading(.dateOfBirth, "1986-05-17", day: 1),
      reading(.dateOfBirth, "1999-01-01", day: nil))
    #expect(try await store.person()[.dateOfBirth] == "1986-05-18")
    try await store.delete(reading(.dateOfBirth, "1986-05-18", day: 2))
    #expect(try await store.person()[.dateOfBirth] == nil)
  }

  @Test func whomSomebodyConfirmedIsRemembered() async throws {
    let (person, other) = (
      Person(characteristics: [Person.Trait.dateOfBirth.rawValue: "1986-05-17"]),
      Person(characteristics: [Person.Trait.dateOfBirth.rawValue: "1987-05-17"])
    )
    _ = try ImportWriter(store, ImportRecord.File(name: "a.zip", person: ["1986-05-17", ""]))
    #expect(try await !store.imports.hasConfirmed(person))
    let writer = try ImportWriter(store, ImportRecord.File(name: "b.zip", confirmed: other))
    #expect(try await store.imports.hasConfirmed(other))
    #expect(try await !store.imports.hasConfirmed(person))
    #expect(try await !store.imports.hasConfirmed(other, isFinished: true))
    try await store.imports.finish(writer.id, digest: nil, isComplete: true)
    #expect(try await fixture.again().imports.hasConfirmed(other, isFinished: true))
  }

  /// Another process writes in the meantime.
  @Test func changesAreAppliedOnlyToTheStoreThatWasLookedAt() async throws {
    var maker = SampleMaker(seed: 1)
    let empty = try await store.owner()
    #expect(empty == RecordOwner(person: Person(), isEmpty: true))
    func apply(_ sample: Sample, while owner: RecordOwner) async throws -> RecordOwner {
      var coder = ChangeCoder()
      try coder.add(sample)
      return try await store.apply([coder.changes], position: ("peer", "token"), while: owner).owner
    }
    try await store.add(maker.steps(at: 1))
    await #expect(throws: StoreError.ownerChanged(path: store.path)) {
      _ = try await apply(maker.steps(at: 2), while: empty)
    }
    #expect(try await store.feed.position(of: "peer") == nil)
    // Its own changes are no obstacle.
    var owner = try await apply(reading(.dateOfBirth, "1986-05-17", day: 1), while: try await store.owner())
    #expect(owner.person[.dateOfBirth] == "1986-05-17")
    owner = try await apply(maker.steps(at: 3), while: owner)
    try await store.add(reading(.dateOfBirth, "1987-05-17", day: 2))
    await #expect(throws: StoreError.ownerChanged(path: store.path)) {
      _ = try await apply(maker.steps(at: 4), while: owner)
    }
  }

  /// A pull fills the store between the import's check and its first batch.
  @Test func anImportGoesOnOnlyIntoWhatItBelongsTo() async throws {
    var maker = SampleMaker(seed: 1)
    var person = Person()
    person[.dateOfBirth] = "1986-05-17"
    func write(_ person: Person, _ owner: RecordOwner) throws {
      let writer = try ImportWriter(store, named: "a.json")
      writer.admit(.init(person, into: owner))
      for _ in 0..<2 {
        var coder = ChangeCoder()
        try coder.add(maker.steps(at: 9))
        try writer.write(coder.changes)
      }
    }
    let empty = try await store.owner()
    try await store.add(maker.steps(at: 1))
    #expect(throws: StoreError.ownerChanged(path: store.path)) { try write(person, empty) }
    // Nobody's samples may be added to anybody's.
    try write(Person(), empty)
    try write(person, try await store.owner())
    try await store.add(reading(.dateOfBirth, "1986-05-17", day: 1))
    try write(person, empty)
    try await store.add(reading(.dateOfBirth, "1987-05-17", day: 2))
    #expect(throws: StoreError.ownerChanged(path: store.path)) { try write(person, empty) }
    // Somebody has said that it belongs there.
    try write(person, try await store.owner())
  }

  @Test func positionsAreFoundByWhatTheirNamesBeginWith() async throws {
    #expect(try await !store.hasPosition(ofConsumers: "pull:ab"))
    try await store.apply(ChangeBatch(), position: ("pull:abcd:HKQuantityTypeIdentifierStepCount", "token"))
    #expect(try await store.hasPosition(ofConsumers: "pull:ab"))
    #expect(try await !store.hasPosition(ofConsumers: "pull:ac"))
    #expect(try await !store.hasPosition(ofConsumers: "pull_ab"))
  }
}
