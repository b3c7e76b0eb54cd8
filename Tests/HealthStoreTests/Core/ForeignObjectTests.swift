import Foundation
import GRDB
import TestSupport
import Testing

@testable import HealthStore

/// Tests of objects that an attacker has added to a store's file.
@Suite struct ForeignObjectTests {
  private func makeStore() throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory(inMemory: true)
    _ = try HealthStore(directory: directory.path)
    return directory
  }

  private func execute(_ sql: String, in directory: TemporaryDirectory) throws {
    let queue = try DatabaseQueue(path: directory.path("store.sqlite"))
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  /// Expects that the store is refused, however it is opened, with an error that contains `name`.
  private func expectRefusals(naming name: String, of directory: TemporaryDirectory) async {
    func expectRefusal(_ error: StoreError?) {
      guard case .corrupt(_, let detail)? = error, detail.contains(name) else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    expectRefusal(#expect(throws: StoreError.self) { try HealthStore(directory: directory.path, create: false) })
    expectRefusal(#expect(throws: StoreError.self) { try HealthStore(readOnlyIn: directory.path) })
    expectRefusal(
      await #expect(throws: StoreError.self) { try await HealthStore.checkIntegrity(directory: directory.path) })
  }

  @Test(
    "a store with a foreign trigger or view is neither opened nor found to be sound, and its name is said",
    arguments: [
      "CREATE TRIGGER planted AFTER INSERT ON audit BEGIN DELETE FROM audit WHERE id = new.id; END",
      "CREATE VIEW planted AS SELECT * FROM sample",
      "CREATE VIRTUAL TABLE planted USING fts5(text)",
    ])
  func planted(sql: String) async throws {
    let directory = try makeStore()
    try execute(sql, in: directory)
    await expectRefusals(naming: "planted", of: directory)
  }

  @Test("a trigger that has the name of hpeer's own and does something else is foreign")
  func disguised() throws {
    let directory = try makeStore()
    try execute(
      "DROP TRIGGER visibility_goes; CREATE TRIGGER visibility_goes AFTER DELETE ON sample BEGIN DELETE FROM audit; END",
      in: directory)
    #expect(throws: StoreError.self) { try HealthStore(directory: directory.path, create: false) }
  }

  @Test(
    "a store whose tables another program has changed is neither opened nor found to be sound, and the table is named",
    arguments: [
      ("ALTER TABLE sample ADD COLUMN extra INTEGER GENERATED ALWAYS AS (change + 1)", "sample"),
      ("CREATE TABLE planted(a)", "planted"), ("DROP INDEX visibility_hidden", "visibility_hidden"),
      ("DROP INDEX sample_identity; CREATE INDEX sample_identity ON sample(type, start, uuid)", "sample_identity"),
      (
        "DROP INDEX visibility_hidden; CREATE INDEX visibility_hidden ON visibility(type) WHERE isHidden = 7",
        "visibility_hidden"
      ),
      ("DROP TABLE position; CREATE TABLE position(consumer TEXT PRIMARY KEY, token, updated)", "position"),
    ])
  func changedTables(sql: String, name: String) async throws {
    let directory = try makeStore()
    try execute(sql, in: directory)
    await expectRefusals(naming: name, of: directory)
  }

  @Test("what SQLite keeps for itself is not foreign")
  func ownStatistics() throws {
    let directory = try makeStore()
    try execute("ANALYZE", in: directory)
    #expect(throws: Never.self) { try HealthStore(directory: directory.path, create: false) }
  }

  @Test("a new position key makes the old one worthless, and the store is the same")
  func positionKey() async throws {
    let directory = try makeStore()
    let store = try HealthStore(directory: directory.path, create: false)
    let (id, key) = (store.id, store.positionKey)
    try await store.renewPositionKey()
    let again = try HealthStore(directory: directory.path, create: false)
    #expect(again.id == id && again.positionKey != key && again.positionKey.count == 32)
  }
}
