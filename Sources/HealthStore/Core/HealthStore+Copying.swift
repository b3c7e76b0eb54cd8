import GRDB
import OperatingSystem
import SQLiteFiles

extension HealthStore {
  /// The name of a store's file within its directory.
  public static let fileName = "store.sqlite"

  /// Gives the store another ``positionKey``: positions that were handed out before mean nothing any more. To be opened anew.
  public func renewPositionKey() async throws(StoreError) {
    try await write { db in try db.execute(sql: "UPDATE store SET positionKey = randomblob(32)") }
  }

  /// Copies the store as it is now into one file, which must not be there, while others use it. Opened in a directory of its
  /// own, the copy is this store at that time; the first change that it numbers begins a new ``Epoch``. Blocking.
  ///
  /// - Parameter withoutKey: gives the copy another ``positionKey``: whoever can read it cannot read or forge positions of
  ///   this store.
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
