import Foundation
import GRDB
import HealthModel
import Testing
import TestSupport

@testable import HealthStore

/// A store of any version that ever was has the tables of a new one, once it was opened.
@Suite struct SchemaTests {
  private static let versions = SchemaHistory.migrator().migrations

  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test(arguments: versions) func anOlderStoreBecomesOne(version: String) async throws {
    let path = directory.path("old/store.sqlite")
    try FileManager.default.createDirectory(
      atPath: directory.path("old"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]))
    let pool = try DatabasePool(path: path)
    try SchemaHistory.migrator().migrate(pool, upTo: version)
    try pool.close()
    let old = try HealthStore(directory: directory.path("old"))
    let new = try HealthStore(directory: directory.path("new"))
    #expect(try await tables(old) == tables(new))
    // And is as good.
    var maker = SampleMaker(seed: 1)
    let samples = maker.samples(20)
    for store in [old, new] {
      try await store.apply(
        ChangeBatch(additions: samples, deletions: samples[..<3].map { Tombstone(of: $0, deleted: .now) }))
      #expect(try await store.audit.verify() == .intact(rows: 0))
    }
    #expect(try await old.digests.current().record == new.digests.current().record)
    for name in ["old", "new"] {
      #expect(try await HealthStore.checkIntegrity(directory: directory.path(name)).findings == [])
    }
  }

  /// Columns, keys and indices, whatever the order in which they were added.
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
        ] {
          for row in try Row.fetchAll(db, sql: sql, arguments: [name]) { parts.insert(row.description) }
        }
        tables[name] = parts
      }
      return tables
    }
  }
}
