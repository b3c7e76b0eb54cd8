import Foundation
import GRDB
import HealthModel

extension HealthStore.Feed {
  /// Returns the token that a consumer received with its last committed batch, or `nil` before the first.
  public func position(of consumer: String) async throws(StoreError) -> String? {
    try await store.read { db in
      try String.fetchOne(db, sql: "SELECT token FROM position WHERE consumer = ?", arguments: [consumer])
    }
  }

  /// Deletes the consumer's position, so that the consumer starts over.
  public func forgetPosition(of consumer: String) async throws(StoreError) {
    try await store.write { db in
      try db.execute(sql: "DELETE FROM position WHERE consumer = ?", arguments: [consumer])
    }
  }
}

extension HealthStore {
  static func setPosition(_ token: String, of consumer: String, db: Database) throws {
    try db.execute(
      sql: """
        INSERT INTO position(consumer, token, updated) VALUES (?, ?, ?)
        ON CONFLICT(consumer) DO UPDATE SET token = excluded.token, updated = excluded.updated
        """,
      arguments: [consumer, token, Timestamp.now.microseconds])
  }
}

extension Timestamp {
  /// The current time of the system clock.
  public static var now: Timestamp {
    Timestamp(microseconds: Int64((Date().timeIntervalSince1970 * 1_000_000).rounded(.down)))
  }
}
