import HealthModel
import HealthStore
import Testing

/// A person renames a device, and so all that it ever recorded.
@Suite struct SourceNameTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  private func keys(_ source: String, _ minutes: Range<Int>) -> [SampleKey] {
    minutes.map { ExportedSample(minute: $0, source: source).key }
  }

  private func bring(_ source: String, _ minutes: Range<Int>, identity: String? = nil) throws -> WriteSummary {
    try store.importExport(minutes.map { ExportedSample(minute: $0, source: source).sample(identity: identity) })
  }

  @Test func aRenamedSourceKeepsItsIdentities() async throws {
    _ = try bring("Old Watch", 0..<10)
    let names = try await store.identityNames(for: ["New Watch": keys("New Watch", 2..<20)])
    #expect(names == ["New Watch": "Old Watch"])
    #expect(try bring("New Watch", 0..<12, identity: "Old Watch").total == .init(added: 2, unchanged: 10))
  }

  @Test func itIsRememberedAndGoesOn() async throws {
    _ = try bring("A", 0..<10)
    _ = try await store.identityNames(for: ["B": keys("B", 0..<10)])
    _ = try bring("B", 0..<20, identity: "A")
    #expect(try await store.identityNames(for: ["B": keys("B", 15..<20)]) == ["B": "A"])
    // Most of what it is compared with now was recorded as B.
    #expect(try await store.identityNames(for: ["C": keys("C", 10..<20)]) == ["C": "A"])
  }

  @Test func anOlderExportAfterTheNewerIsTheSame() async throws {
    _ = try bring("New", 0..<10)
    #expect(try await store.identityNames(for: ["Old": keys("Old", 0..<8)]) == ["Old": "New"])
  }

  @Test func twoSourcesAreTwo() async throws {
    _ = try bring("Watch", 0..<10)
    #expect(try await store.identityNames(for: ["Phone": keys("Phone", 20..<30)]).isEmpty)
    // The same moments, but the watch is still there under its name.
    let both = ["Phone": keys("Phone", 0..<10), "Watch": keys("Watch", 0..<10)]
    #expect(try await store.identityNames(for: both).isEmpty)
  }

  @Test func twoAtOnceAreToldApart() async throws {
    _ = try bring("Watch", 0..<10)
    _ = try bring("Phone", 10..<20)
    let names = try await store.identityNames(for: ["W": keys("W", 0..<10), "P": keys("P", 10..<20)])
    #expect(names == ["W": "Watch", "P": "Phone"])
  }

  @Test func anAppsSamplesAreNoWitness() async throws {
    for minute in 0..<5 { try await store.add(ExportedSample(minute: minute, source: "App").original(offset: 0)) }
    #expect(try await store.identityNames(for: ["New": keys("New", 0..<5)]).isEmpty)
  }
}
