import HealthModel
import HealthStore
import Testing

/// Tests of a renamed device, whose earlier samples get the new name, too.
@Suite struct SourceNameTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  private func keys(
    _ source: String, _ minutes: Range<Int>, value: Double? = nil, unit: String = "count/min", isShared: Bool = false
  ) -> [SampledRecord] {
    minutes.map {
      SampledRecord(
        key: ExportedSample(minute: $0, source: source).key, value: value.map { Quantity($0, unit) },
        isShared: isShared)
    }
  }

  private func bring(_ source: String, _ minutes: Range<Int>, identity: String? = nil) throws -> WriteSummary {
    try store.importExport(minutes.map { ExportedSample(minute: $0, source: source).sample(identity: identity) })
  }

  @Test func aRenamedSourceKeepsItsIdentities() async throws {
    _ = try bring("Old Watch", 0..<10)
    let names = try await store.imports.identityNames(for: ["New Watch": keys("New Watch", 2..<20)])
    #expect(names == ["New Watch": "Old Watch"])
    #expect(try bring("New Watch", 0..<12, identity: "Old Watch").total == .init(added: 2, unchanged: 10))
  }

  @Test func itIsRememberedAndGoesOn() async throws {
    _ = try bring("A", 0..<10)
    _ = try await store.imports.identityNames(for: ["B": keys("B", 0..<10)])
    _ = try bring("B", 0..<20, identity: "A")
    #expect(try await store.imports.identityNames(for: ["B": keys("B", 15..<20)]) == ["B": "A"])
    // Most of what it is compared with now was recorded as B.
    #expect(try await store.imports.identityNames(for: ["C": keys("C", 10..<20)]) == ["C": "A"])
  }

  @Test func anOlderExportAfterTheNewerIsTheSame() async throws {
    _ = try bring("New", 0..<10)
    #expect(try await store.imports.identityNames(for: ["Old": keys("Old", 0..<8)]) == ["Old": "New"])
  }

  @Test func twoSourcesAreTwo() async throws {
    _ = try bring("Watch", 0..<10)
    #expect(try await store.imports.identityNames(for: ["Phone": keys("Phone", 20..<30)]).isEmpty)
    // The same moments, but the watch is still there under its name.
    let both = [
      "Phone": keys("Phone", 0..<10, isShared: true), "Watch": keys("Watch", 0..<10, isShared: true),
    ]
    #expect(try await store.imports.identityNames(for: both).isEmpty)
  }

  @Test func twoAtOnceAreToldApart() async throws {
    _ = try bring("Watch", 0..<10)
    _ = try bring("Phone", 10..<20)
    let names = try await store.imports.identityNames(for: ["W": keys("W", 0..<10), "P": keys("P", 10..<20)])
    #expect(names == ["W": "Watch", "P": "Phone"])
  }

  @Test func anAppsSamplesAreNoWitness() async throws {
    for minute in 0..<5 { try await store.add(ExportedSample(minute: minute, source: "App").original(offset: 0)) }
    #expect(try await store.imports.identityNames(for: ["New": keys("New", 0..<5)]).isEmpty)
  }

  // MARK: Names that others had

  @Test func aNewPhoneMayHaveTheNameOfTheOldOne() async throws {
    _ = try bring("iPhone", 0..<10)
    let names = try await store.imports.identityNames(for: [
      "Old iPhone": keys("Old iPhone", 0..<10), "iPhone": keys("iPhone", 10..<12),
    ])
    #expect(names == ["Old iPhone": "iPhone"])
    _ = try bring("Old iPhone", 0..<11, identity: "iPhone")
    _ = try bring("iPhone", 20..<30)
    // Both have one identity now, and are renamed again.
    let later = try await store.imports.identityNames(for: ["A": keys("A", 0..<11), "B": keys("B", 20..<33)])
    #expect(later == ["A": "iPhone", "B": "iPhone"])
  }

  @Test(arguments: 2...4)
  func namesMayGoRound(count: Int) async throws {
    let devices = (0..<count).map { "Device \($0)" }
    func minutes(_ device: Int) -> Range<Int> { device * 20..<device * 20 + 10 }
    for (index, device) in devices.enumerated() { _ = try bring(device, minutes(index)) }
    let round = Dictionary(
      uniqueKeysWithValues: (0..<count).map {
        (devices[($0 + 1) % count], keys(devices[($0 + 1) % count], minutes($0)))
      })
    let expected = Dictionary(uniqueKeysWithValues: (0..<count).map { (devices[($0 + 1) % count], devices[$0]) })
    #expect(try await store.imports.identityNames(for: round) == expected)
    // And back: what was remembered of the names does not count.
    let back = Dictionary(uniqueKeysWithValues: (0..<count).map { (devices[$0], keys(devices[$0], minutes($0))) })
    #expect(try await store.imports.identityNames(for: back).isEmpty)
    #expect(try await store.imports.identityNames(for: round) == expected)
  }

  @Test func namesMayBeHandedDown() async throws {
    _ = try bring("A", 0..<10)
    _ = try bring("B", 20..<30)
    let names = try await store.imports.identityNames(
      for: ["B": keys("B", 0..<10), "C": keys("C", 20..<30), "A": keys("A", 40..<50)])
    #expect(names == ["B": "A", "C": "B"])
  }

  @Test func deletedRecordsAreWitnesses() async throws {
    _ = try bring("Old", 0..<10)
    let all = Timestamp(seconds: 0)..<Timestamp(seconds: 1 << 40)
    #expect(try await store.samples.delete(ExportedSample().type, in: all) == 10)
    #expect(try await store.imports.identityNames(for: ["New": keys("New", 0..<10)]) == ["New": "Old"])
  }

  // MARK: Names that only look as if

  @Test func otherNumbersAtTheSameMomentsAreOtherRecords() async throws {
    _ = try bring("A", 0..<10)
    _ = try bring("B", 20..<30)
    let swapped = ["B": keys("B", 0..<10, value: 99), "A": keys("A", 20..<30, value: 98)]
    #expect(try await store.imports.identityNames(for: swapped).isEmpty)
    // What is printed in another unit is no other number.
    let converted = ["B": keys("B", 0..<10, value: 1, unit: "count/s"), "A": keys("A", 20..<30, value: 60)]
    #expect(try await store.imports.identityNames(for: converted) == ["B": "A", "A": "B"])
  }

  @Test func halfOfTheNumbersAreNotEnough() async throws {
    _ = try bring("A", 0..<10)
    let mixed = keys("B", 0..<5, value: 60) + keys("B", 5..<10, value: 99)
    #expect(try await store.imports.identityNames(for: ["B": mixed]).isEmpty)
  }

  @Test func aRememberedNameDoesNotHideOtherNumbers() async throws {
    _ = try bring("A", 0..<10)
    #expect(try await store.imports.identityNames(for: ["B": keys("B", 0..<10, value: 60)]) == ["B": "A"])
    // Nothing is known of these, so the name decides.
    #expect(try await store.imports.identityNames(for: ["B": keys("B", 20..<30)]) == ["B": "A"])
    #expect(try await store.imports.identityNames(for: ["B": keys("B", 0..<10, value: 99)]).isEmpty)
  }
}
