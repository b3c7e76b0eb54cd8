import GRDB
import HealthModel

/// Queries for samples of the store.
enum StoredSamples {
  /// Returns samples.
  ///
  /// - Parameters:
  ///   - clause: the part of the query after `SELECT … FROM sample WHERE`.
  ///   - bind: binds the clause's parameters, in order.
  static func fetch(
    _ db: Database, where clause: String, bind: (inout Binding) -> Void = { _ in }
  ) throws -> [Sample] {
    try read(db, where: clause, bind: bind)
      .expanded { changes, expander in try changes.samples.map(expander.sample) }
  }

  /// Returns samples dictionary-encoded, as they are stored; see ``fetch(_:where:bind:)``.
  static func read(
    _ db: Database, where clause: String, bind: (inout Binding) -> Void = { _ in }
  ) throws -> StoredChanges {
    var query = try Binding(db, "SELECT \(StoredChanges.sampleColumns) FROM sample WHERE \(clause)")
    bind(&query)
    var stored = StoredChanges(db)
    try query.rows(db) { row in
      try stored.addSample(row)
      return true
    }
    return stored
  }

  /// Calls `body` with each sample. At most a thousand samples are in memory.
  static func forEach(_ db: Database, where clause: String, _ body: (Sample) throws -> Void) throws {
    var stored = StoredChanges(db)
    func flush() throws {
      try stored.expanded { changes, expander in
        for sample in changes.samples { try body(try expander.sample(sample)) }
      }
      stored = StoredChanges(db)
    }
    try Binding(db, "SELECT \(StoredChanges.sampleColumns) FROM sample WHERE \(clause)").rows(db) { row in
      try stored.addSample(row)
      if stored.samples.count == 1_000 { try flush() }
      return true
    }
    try flush()
  }
}

extension StoredChanges {
  /// Returns the result of `expand` for these changes. A text that cannot be decoded means that the store is damaged.
  func expanded<Result>(_ expand: (CodedChanges, ChangeExpander) throws -> Result) throws -> Result {
    do {
      let changes = changes
      return try expand(changes, try ChangeExpander(changes))
    } catch let error as DecodingError {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: Self.damage(error))
    }
  }

  static func damage(_ error: DecodingError) -> String { "a sample in the store cannot be read: \(error)" }
}

extension HealthStore {
  /// Returns the error for a text in this store's coded changes that cannot be decoded.
  public func damage(_ error: DecodingError) -> StoreError {
    .corrupt(path: path, detail: StoredChanges.damage(error))
  }
}
