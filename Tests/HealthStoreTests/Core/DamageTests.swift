import Foundation
import GRDB
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests of files that a store must refuse and leave unchanged.
@Suite struct DamageTests {
  let directory: TemporaryDirectory
  private var file: URL { URL(filePath: directory.path("store.sqlite")) }

  init() throws { directory = try TemporaryDirectory() }

  /// Writes a store of several dozen pages and returns its bytes after closing it.
  private func write() async throws -> Data {
    var maker = SampleMaker(seed: 1)
    let samples = (0..<3000).map { maker.steps(at: $0) }
    try await HealthStore(directory: directory.path).apply(ChangeBatch(additions: samples))
    try await waitUntilClosed()
    let bytes = try Data(contentsOf: file)
    try #require(bytes.count > 100_000)
    return bytes
  }

  /// Waits until the write-ahead log is merged into the file, because the last reference to a store may be released
  /// on another thread.
  private func waitUntilClosed() async throws {
    while FileManager.default.contents(atPath: file.path + "-wal")?.isEmpty == false {
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  private func expectCorrupt(_ body: () async throws -> Void) async throws {
    do {
      try await body()
      Issue.record("the damage was not noticed")
    } catch StoreError.corrupt(let path, _) {
      #expect(path == file.path)
    }
  }

  private func expectRefused() async throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    let before = try Data(contentsOf: file)
    try await expectCorrupt { _ = try HealthStore(directory: directory.path) }
    try await waitUntilClosed()
    #expect(try Data(contentsOf: file) == before)
  }

  @Test func textIsNoStore() async throws {
    try Data(repeating: UInt8(ascii: "x"), count: 10_000).write(to: file)
    try await expectRefused()
  }

  @Test func noiseIsNoStore() async throws {
    var random = SeededGenerator(seed: 1)
    try Data((0..<20_000).map { _ in UInt8.random(in: 0...255, using: &random) }).write(to: file)
    try await expectRefused()
  }

  /// The rows contain values of types that hpeer never writes.
  @Test("what is told of a store's shape is told also where its rows hold what they never should")
  func shape() throws {
    try DatabaseQueue(path: file.path).write { db in
      try db.execute(
        sql: """
          CREATE TABLE grdb_migrations(identifier TEXT NOT NULL);
          CREATE TABLE audit(id INTEGER PRIMARY KEY, time, event);
          INSERT INTO audit(time, event) VALUES (NULL, 'import'), ('TellTime', x'FF'), (0, 7);
          """)
    }
    let shape = try HealthStore.shape(directory: directory.path)
    #expect(shape.rows["audit"] == 3)
    #expect(shape.events.map(\.time) == ["", "", "1970-01-01T00:00:00Z"])
    #expect(shape.events.map(\.name) == ["import", "other", "other"])
  }

  @Test(.timeLimit(.minutes(5)), arguments: [2, 100, 1000, 4096, 4097, 60_000])
  func aStoreThatWasCutOffIsDamaged(length: Int) async throws {
    try await write().prefix(length).write(to: file)
    try await expectRefused()
  }

  /// The damage is found when the page is read. By then the store is open and pages of the schema may have been
  /// written, because GRDB creates a write-ahead log by creating and dropping a table.
  @Test(.timeLimit(.minutes(5)))
  func aPageThatWasOverwrittenIsDamage() async throws {
    var bytes = try await write()
    // The first pages are those of tables, of which most are empty; the last are full of samples.
    let damaged = bytes.count - 8 * 4096..<bytes.count - 4 * 4096
    bytes.replaceSubrange(damaged, with: repeatElement(0xAA, count: damaged.count))
    try bytes.write(to: file)
    try await expectCorrupt {
      let store = try HealthStore(directory: directory.path)
      _ = try await store.allChanges()
      _ = try await store.samples.page(of: SampleMaker.stepCount, limit: 5000)
    }
    try await waitUntilClosed()
    #expect(try Data(contentsOf: file)[damaged] == bytes[damaged])
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func anotherProgramsDatabaseIsRefused() async throws {
    try await SQLiteShell.run("CREATE TABLE store(x); INSERT INTO store VALUES ('mine')", on: file.path)
    try await expectRefused()
  }

  @Test(.enabled(if: SQLiteShell.isAvailable), .timeLimit(.minutes(5)), arguments: [true, false])
  func aStoreOfANewerVersionIsLeftAsItIs(create: Bool) async throws {
    _ = try await write()
    try await SQLiteShell.run("INSERT INTO grdb_migrations VALUES ('v999')", on: file.path)
    try await waitUntilClosed()
    let before = try Data(contentsOf: file)
    for _ in 0..<2 {
      #expect(throws: StoreError.newerSchema(path: file.path)) {
        try HealthStore(directory: directory.path, create: create)
      }
    }
    try await waitUntilClosed()
    #expect(try Data(contentsOf: file) == before)
  }
}
