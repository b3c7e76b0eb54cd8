import GRDB
import OperatingSystem
import SQLiteFiles

extension HealthStore {
  /// The name of a store's file within its directory.
  public static let fileName = "store.sqlite"

  /// Replaces ``positionKey``, which invalidates all positions that were handed out before. Open the store again
  /// afterwards.
  public func renewPositionKey() async throws(StoreError) {
    try await write { db in try db.execute(sql: "UPDATE store SET positionKey = randomblob(32)") }
  }

  /// Copies the current state of the store into a new file while other connections use the store. No file may exist
  /// at `path`. In a directory of its own, the copy opens as this store at that time, and its first change begins a
  /// new ``Epoch``. Blocking.
  ///
  /// - Parameter withoutKey: whether the copy gets another ``positionKey``, so that its readers can neither read nor
  ///   forge positions of this store.
  public func copyBlocking(to path: String, withoutKey: Bool) throws(StoreError) {
    do {
      try SQLiteFile(self.path).copy(to: path) { db in
        if withoutKey { try db.execute(sql: "UPDATE store SET positionKey = randomblob(32)") }
      }
    } catch {
      throw StoreError(error, path: path)
    }
  }
}
