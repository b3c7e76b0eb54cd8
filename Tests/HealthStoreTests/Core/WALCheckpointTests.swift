import Foundation
import GRDB
import TestSupport
import Testing

@testable import HealthStore

@Suite struct WALCheckpointTests {
  private let directory: TemporaryDirectory
  private let pool: DatabasePool

  init() throws {
    directory = try TemporaryDirectory()
    pool = try DatabasePool(path: directory.path + "/store.sqlite")
    try pool.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
      try db.execute(sql: "CREATE TABLE sample(change INTEGER PRIMARY KEY, payload BLOB)")
    }
  }

  private var logSize: Int {
    (try? FileManager.default.attributesOfItem(atPath: pool.path + "-wal")[.size] as? Int) ?? 0
  }

  /// Writes transactions of about a hundred pages each.
  private func write(_ transactions: Int, _ checkpoints: WALCheckpoints) throws {
    for _ in 0..<transactions {
      checkpoints.waitIfLarge()
      try pool.write { db in
        for _ in 0..<100 { try db.execute(sql: "INSERT INTO sample(payload) VALUES (zeroblob(8192))") }
      }
      checkpoints.committed()
    }
  }

  private func count() throws -> Int? {
    try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sample") }
  }

  /// 40 MB are written through a log that waits at 4 MB and may be eight transactions ahead.
  @Test func theLogStaysSmallWhateverIsWritten() throws {
    let checkpoints = try WALCheckpoints(path: pool.path, largeLog: 1000)
    defer { checkpoints.stop() }
    var largest = 0
    for _ in 0..<50 {
      try write(1, checkpoints)
      largest = max(largest, logSize)
    }
    #expect(largest > 0)
    #expect(largest < 16_000_000)
    #expect(try count() == 5000)
  }

  /// An old reader needs the log unchanged, but the writer continues.
  @Test func aReaderHoldsNobodyUp() throws {
    let checkpoints = try WALCheckpoints(path: pool.path, largeLog: 100)
    defer { checkpoints.stop() }
    try write(1, checkpoints)
    let snapshot = try pool.makeSnapshot()
    try write(10, checkpoints)
    #expect(try snapshot.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sample") } == 100)
    #expect(try count() == 1100)
  }

  @Test func whatIsCommittedLastIsThereAfterTheEnd() throws {
    let checkpoints = try WALCheckpoints(path: pool.path)
    try write(3, checkpoints)
    checkpoints.stop()
    try pool.close()
    #expect(logSize == 0)
    let again = try DatabaseQueue(path: directory.path + "/store.sqlite")
    #expect(try again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sample") } == 300)
  }
}
