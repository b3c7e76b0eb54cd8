import Foundation
import GRDB
import HealthModel
import Testing
import TestSupport

@testable import HealthStore

/// Tests that a store of the last development version (commit 2853c503) has the tables of a new store after it was
/// opened.
@Suite(.enabled(if: SQLiteShell.isAvailable)) struct SchemaTests {
  private let file: StoreFile

  init() throws { file = try StoreFile() }

  /// Creates a store as that commit's `hpeer` left it: heart rates of an export, half of them hidden by an app's
  /// samples of the same time, which were then deleted.
  private func makeEarlier() async throws {
    let dump = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/2853c503.sql")
    #expect(FileManager.default.createFile(atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600]))
    try await SQLiteShell.run(try String(contentsOf: dump, encoding: .utf8), on: file.path)
  }

  @Test func anEarlierStoreBecomesOne() async throws {
    try await makeEarlier()
    let earlier = try file.open()
    let new = try StoreFixture()
    #expect(try await tables(earlier) == tables(new.store))
    #expect(try await HealthStore.checkIntegrity(directory: file.directory.path).findings == [])
    // And is as good.
    var maker = SampleMaker(seed: 1)
    let samples = maker.samples(20)
    try await earlier.apply(
      ChangeBatch(additions: samples, deletions: samples[..<3].map { Tombstone(of: $0, deleted: .now) }))
    #expect(try await HealthStore.checkIntegrity(directory: file.directory.path).findings == [])
  }

  @Test func whatItCountedAsHiddenAndIsGoneIsCountedNoMore() async throws {
    try await makeEarlier()
    try await SQLiteShell.run("UPDATE type SET samples = samples + 7, derived = 1", on: file.path)
    let store = try file.open()
    try await store.expectTrueCounts("opened")
    let events = try await store.audit.records()
    #expect(
      events.filter { $0.event == AuditEvent.Name.storeHealed.rawValue }.map(\.detail)
        == [["hidden": "24", "types": "1"]])
    #expect(try await store.audit.verify() == .intact(rows: events.count))
    // Once.
    #expect(try await file.open().audit.records() == events)
  }

  @Test func whatIsOlderIsRefusedAndLeftAsItIs() async throws {
    try await makeEarlier()
    try await SQLiteShell.run("DELETE FROM grdb_migrations WHERE identifier = 'renamedSources'", on: file.path)
    let before = try Data(contentsOf: file.url)
    let error = try #require(throws: StoreError.self) { try file.open() }
    #expect("\(error)".contains("2853c503"))
    #expect(try Data(contentsOf: file.url) == before)
  }

  @Test func whatCannotBeWrittenIsNotBroughtUpToDate() async throws {
    try await makeEarlier()
    let before = try Data(contentsOf: file.url)
    #expect(throws: StoreError.self) { try HealthStore(readOnlyIn: file.directory.path) }
    #expect(try HealthStore.inspect(directory: file.directory.path).isCurrent == false)
    #expect(try await HealthStore.checkIntegrity(directory: file.directory.path).findings == [])
    #expect(try Data(contentsOf: file.url) == before)
  }

  @Test func readingsGetTheIdentityOfWhatTheyAreOf() async throws {
    func reading(_ type: String, day: Int64, _ payload: Payload, period: String? = nil) -> Sample {
      let start = Timestamp(seconds: day * 86_400)
      var sample = Sample(
        uuid: UUID(), type: SampleType(type), start: start, end: Timestamp(seconds: start.seconds + 86_400),
        created: Timestamp(seconds: start.seconds + 90_000), source: Source(name: "Watch"),
        metadata: period.map { ["hpeer.aggregation": .string($0)] } ?? [:], payload: payload)
      sample.uuid = EarlierReadings.identity(of: sample, ordinal: Int(day % 3))
      return sample
    }
    func summary(_ energy: String, day: Int64) -> Sample {
      reading(
        SampleType.activitySummary.rawValue, day: day,
        .activitySummary(ActivitySummary(date: "2024-01-0\(day)", attributes: ["activeEnergyBurned": energy])))
    }
    func steps(_ value: Double, day: Int64) -> Sample {
      reading("hae.step_count", day: day, .quantity(Quantity(value, "count")), period: "day")
    }
    func renamed(_ sample: Sample) -> Sample {
      var sample = sample
      sample.uuid = SampleIdentity.uuid(ofReading: sample)
      return sample
    }
    var maker = SampleMaker(seed: 1)
    let others = maker.samples(20).filter { !Payload.kindsOneAtATime.contains($0.payload.kind) }
    let held = [summary("200", day: 1), steps(9000, day: 1), summary("20", day: 2), steps(40, day: 2)]
    let gone = [summary("300", day: 3), steps(500, day: 3)]
    var store: HealthStore? = try file.open()
    try await store?.apply(
      ChangeBatch(additions: others + held, deletions: gone.map { Tombstone(of: $0, deleted: .now) }))
    store = nil
    try await SQLiteShell.run(
      """
      DROP TRIGGER repetition_goes; DROP TABLE repetition; DROP INDEX sample_statement;
      DROP INDEX tombstone_statement;
      DROP TABLE statedRange;
      ALTER TABLE sample DROP COLUMN statement; ALTER TABLE undoSample DROP COLUMN statement;
      ALTER TABLE tombstone DROP COLUMN statement; DELETE FROM grdb_migrations WHERE identifier = 'statements';
      """, on: file.path)
    let opened = try file.open()
    let contents = try await opened.contents()
    #expect(try contents.samples == Set((others + held.map(renamed)).map { try $0.text() }))
    #expect(try await HealthStore.checkIntegrity(directory: file.directory.path).findings == [])
    // What was deleted stays deleted, whatever it says by now; the others change as before.
    let said = [summary("301", day: 3), steps(501, day: 3), summary("201", day: 1), steps(9001, day: 1)]
    let later = said.map { sample in
      var sample = sample
      sample.created = sample.created.map { Timestamp(seconds: $0.seconds + 1) }
      return sample
    }
    #expect(try await opened.add(readings: later).total == .init(added: 2, deleted: 2, refused: 2))
  }

  /// Returns the columns, keys, indexes and triggers of each table, independent of their order.
  private func tables(_ store: HealthStore) async throws -> [String: Set<String>] {
    try await store.read { db in
      var tables: [String: Set<String>] = [:]
      let rows = try Row.fetchAll(db, sql: "SELECT name, wr, strict FROM pragma_table_list WHERE schema = 'main'")
      for row in rows where !(row[0] as String).hasPrefix("sqlite_") {
        let name: String = row[0]
        var parts: Set = ["WITHOUT ROWID \(row[1] as Int), STRICT \(row[2] as Int)"]
        for sql in [
          "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_xinfo(?)",
          "SELECT name, \"unique\", origin, partial FROM pragma_index_list(?)",
          "SELECT \"table\", \"from\", on_delete FROM pragma_foreign_key_list(?)",
          "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?",
        ] {
          for row in try Row.fetchAll(db, sql: sql, arguments: [name]) { parts.insert(row.description) }
        }
        tables[name] = parts
      }
      return tables
    }
  }
}
