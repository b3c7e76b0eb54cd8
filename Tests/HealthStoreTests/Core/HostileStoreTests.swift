import Foundation
import GRDB
import HealthModel
import TestSupport
import Testing

@testable import HealthStore

/// Tests of hostile rows in a store's tables, and of hostile changes.
@Suite("Hostile rows", .timeLimit(.minutes(2))) struct HostileStoreTests {
  private func execute(_ sql: String, in fixture: StoreFixture) async throws {
    try await fixture.store.write { try $0.execute(sql: sql) }
  }

  @Test("a sample whose statement names no derived content is deleted like any other, however many there are")
  func unfitContent() async throws {
    let fixture = try StoreFixture()
    let sample = ExportedSample().sample()
    var coder = ChangeCoder()
    let count = 5
    for ordinal in 0..<count {
      let stamp = KeyStatement.Stamp(said: sample.start, values: UInt64(count) << 48)
      // A UUID of version 4, which no statement has.
      let statement = KeyStatement(key: sample.uuid, stamp: stamp, content: UUID())
      try coder.add(ExportedSample(value: Double(ordinal)).sample(ordinal: ordinal), statement: statement)
    }
    try await fixture.store.apply([coder.changes])
    let shown = try await fixture.store.samples.page(of: sample.type, limit: 10).count
    #expect(shown > 0)
    let everything = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)
    #expect(try await fixture.store.samples.delete(sample.type, in: everything, step: 1) == shown)
    #expect(try await fixture.store.samples.page(of: sample.type, limit: 10).isEmpty)
    #expect(try await HealthStore.checkIntegrity(directory: fixture.store.directory).findings == [])
  }

  @Test("ranges of imported samples beyond the store's numbers are damage, and cost nothing")
  func endlessRange() async throws {
    let fixture = try StoreFixture()
    try fixture.store.importExport([ExportedSample().sample()])
    try await execute("INSERT INTO importedRange VALUES (1000, 200000000000)", in: fixture)
    #expect(throws: StoreError.self) { try fixture.store.importExport([ExportedSample(value: 2).sample()]) }
  }

  @Test(
    "ends of the audit log that make no sense are damage, and crash nothing",
    arguments: [(-5, Int64.max), (7, 3), (0, Int64.max)])
  func impossibleEnds(pruned: Int, last: Int64) async throws {
    let fixture = try StoreFixture()
    try await fixture.store.audit.record(AuditEvent(.serverStarted))
    try await execute("DELETE FROM audit; UPDATE auditEnds SET prunedID = \(pruned), lastID = \(last)", in: fixture)
    await #expect(throws: StoreError.self) { try await fixture.store.audit.verify() }
  }

  @Test("whose exports were imported is known after the positions got another key, as in a copy without secrets")
  func newPositionKey() async throws {
    let fixture = try StoreFixture()
    var person = Person()
    person[.dateOfBirth] = "1987-03-01"
    let fields = HealthStore.fields(of: person)
    let file = ImportRecord.File(name: "export.zip", exported: .now, person: fields, confirmed: person)
    let writer = try ImportWriter(fixture.store, file)
    try await fixture.store.imports.finish(writer.id, digest: nil, isComplete: true)
    try await fixture.store.renewPositionKey()
    let again = try HealthStore(directory: fixture.store.directory, create: false)
    #expect(try await !again.imports.hasExports(ofOthersThan: fields))
    #expect(try await again.imports.hasConfirmed(person))
    #expect(try await again.imports.hasExports(ofOthersThan: ["person", "1990-01-01"]))
  }
}
