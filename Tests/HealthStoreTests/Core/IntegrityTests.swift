import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests of the findings of ``HealthStore/checkIntegrity(directory:)``, and that it leaves a store unchanged.
@Suite struct IntegrityTests {
  let directory: TemporaryDirectory
  private var file: String { directory.path("store.sqlite") }

  init() throws { directory = try TemporaryDirectory() }

  private func write() async throws {
    let store = try HealthStore(directory: directory.path)
    var maker = SampleMaker(seed: 3)
    let samples = maker.samples(60) + (0..<60).map { maker.steps(at: $0) }
    try await store.apply(ChangeBatch(additions: samples))
    try await store.apply(ChangeBatch(deletions: samples.prefix(10).map { $0.tombstone() }))
    for number in 1...5 { try await store.audit.record(AuditEvent(.dataRead, ["count": "\(number)"])) }
  }

  private func waitUntilClosed() async throws {
    while FileManager.default.fileExists(atPath: file + "-wal") { try await Task.sleep(for: .milliseconds(1)) }
  }

  private func files() throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: directory.path($0)))) })
  }

  @Test(.timeLimit(.minutes(5)))
  func aStoreAtRestIsSoundAndNotTouched() async throws {
    try await write()
    try await waitUntilClosed()
    let before = try files()
    let integrity = try await HealthStore.checkIntegrity(directory: directory.path)
    #expect(integrity.findings == [])
    #expect(integrity.isSound)
    #expect(try files() == before)
  }

  @Test func aStoreInUseIsSound() async throws {
    let store = try HealthStore(directory: directory.path)
    try await write()
    #expect(try await HealthStore.checkIntegrity(directory: directory.path).isSound)
    var maker = SampleMaker(seed: 9)
    try await store.add(maker.steps(at: 5_000))
    #expect(try await HealthStore.checkIntegrity(directory: directory.path).isSound)
  }

  @Test func anEmptyStoreIsSound() async throws {
    _ = try HealthStore(directory: directory.path)
    #expect(try await HealthStore.checkIntegrity(directory: directory.path).isSound)
  }

  @Test func noStoreIsMissingAndNotMade() async throws {
    let missing = StoreError.missing(path: file)
    await #expect(throws: missing) { try await HealthStore.checkIntegrity(directory: directory.path) }
    #expect(try files().isEmpty)
    try Data().write(to: URL(filePath: file))
    await #expect(throws: missing) { try await HealthStore.checkIntegrity(directory: directory.path) }
    #expect(try files() == ["store.sqlite": Data()])
  }

  @Test func noiseIsNoStore() async throws {
    try Data(repeating: 0x61, count: 9_000).write(to: URL(filePath: file))
    let error = await #expect(throws: StoreError.self) {
      try await HealthStore.checkIntegrity(directory: directory.path)
    }
    guard case .corrupt = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func aNewerStoreIsRefused() async throws {
    try await write()
    try await SQLiteShell.run("INSERT INTO grdb_migrations VALUES ('v999')", on: file)
    await #expect(throws: StoreError.newerSchema(path: file)) {
      try await HealthStore.checkIntegrity(directory: directory.path)
    }
  }

  @Test(
    .enabled(if: SQLiteShell.isAvailable),
    arguments: [
      (
        "UPDATE type SET samples = samples + 1 WHERE identifier = 'HKQuantityTypeIdentifierStepCount'",
        .wrongCount(type: SampleMaker.stepCount, kept: 62, counted: 61)
      ),
      (
        "UPDATE type SET derived = 7 WHERE identifier = 'HKQuantityTypeIdentifierStepCount'",
        .wrongDerivedCount(type: SampleMaker.stepCount, kept: 7, counted: 0)
      ),
      ("UPDATE store SET counter = 100", .counterBehind(counter: 100, newest: 130)),
      (
        "INSERT INTO tombstone SELECT change, type, start, zeroblob(16), 0, NULL, NULL, NULL, 0, NULL, NULL FROM sample LIMIT 2",
        .numbersTakenTwice(2)
      ),
      (
        "INSERT INTO tombstone SELECT -1, type, start, uuid, 0, NULL, NULL, NULL, 0, NULL, NULL FROM sample LIMIT 1",
        .aliveAndDeleted(1)
      ),
      (
        "UPDATE tombstone SET source = NULL; DELETE FROM source",
        .danglingReferences(table: "sample", column: "source", rows: 110)
      ),
      ("DELETE FROM kind WHERE name = 'quantity'", .danglingReferences(table: "sample", column: "kind", rows: 71)),
      (
        "UPDATE sample SET device = 999 WHERE device IS NOT NULL",
        .danglingReferences(table: "sample", column: "device", rows: 27)
      ),
      ("UPDATE tombstone SET type = 999", .danglingReferences(table: "tombstone", column: "type", rows: 10)),
      (
        "INSERT INTO visibility SELECT change, type, 1, NULL, 0 FROM sample WHERE type = 1 LIMIT 3", .wrongVisibility(3)
      ),
      (
        "INSERT INTO visibility VALUES (999, 1, 1, NULL, 0)",
        .danglingReferences(table: "visibility", column: "sample", rows: 1)
      ),
      ("UPDATE audit SET detail = '{}' WHERE id = 3", .audit(.changed(3))),
    ] as [(String, StoreFinding)])
  func whatDoesNotFitIsFound(sql: String, finding: StoreFinding) async throws {
    try await write()
    try await SQLiteShell.run(sql, on: file)
    let integrity = try await HealthStore.checkIntegrity(directory: directory.path)
    #expect(integrity.findings == [finding])
    #expect(!integrity.isSound)
    #expect(finding.description.hasSuffix("."))
  }

  @Test(.timeLimit(.minutes(5)))
  func pagesThatWereOverwrittenAreFound() async throws {
    var maker = SampleMaker(seed: 1)
    let samples = (0..<3000).map { maker.steps(at: $0) }
    try await HealthStore(directory: directory.path).apply(ChangeBatch(additions: samples))
    try await waitUntilClosed()
    var bytes = try Data(contentsOf: URL(filePath: file))
    bytes.replaceSubrange(60 * 4096..<64 * 4096, with: repeatElement(0xAA, count: 4 * 4096))
    try bytes.write(to: URL(filePath: file))
    for depth in [HealthStore.CheckDepth.pages, .everything] {
      let integrity = try await HealthStore.checkIntegrity(directory: directory.path, depth: depth)
      #expect(
        integrity.findings.contains { if case .damagedPages = $0 { true } else { false } }, "\(integrity.findings)")
    }
    #expect(try Data(contentsOf: URL(filePath: file)) == bytes)
  }

  @Test(
    arguments: ["UPDATE store SET positionKey = NULL", "UPDATE store SET id = x'00'", "DELETE FROM store"])
  func whatKeepsAStoreFromBeingOpenedIsFoundAtOnce(sql: String) async throws {
    try await write()
    try await SQLiteShell.run(sql, on: file)
    #expect(throws: StoreError.self) { try HealthStore(directory: directory.path) }
    let integrity = try await HealthStore.checkIntegrity(directory: directory.path, depth: .pages)
    #expect(!integrity.isSound)
  }

  @Test func aLogWithoutItsStoreIsNoMissingStore() async throws {
    try Data([1]).write(to: URL(filePath: file + "-wal"))
    #expect(throws: StoreError.corrupt(path: file, detail: "it is empty or gone, but its write-ahead log is not")) {
      try HealthStore.inspect(directory: directory.path)
    }
  }
}
