import GRDB
import HealthModel

/// Samples of the store, one by one.
enum StoredSamples {
  /// For `SELECT … FROM sample WHERE` the given clause, whose parameters `bind` fills.
  static func fetch(
    _ db: Database, where clause: String, bind: (inout Binding) -> Void = { _ in }
  ) throws -> [Sample] {
    var query = try Binding(db, "SELECT \(StoredChanges.sampleColumns) FROM sample WHERE \(clause)")
    bind(&query)
    var stored = StoredChanges(db)
    try query.rows(db) { row in
      try stored.addSample(row)
      return true
    }
    return try stored.expanded { changes, expander in try changes.samples.map(expander.sample) }
  }
}

extension StoredChanges {
  /// What `expand` makes of these changes. Text that cannot be read is damage to the store.
  func expanded<Result>(_ expand: (CodedChanges, ChangeExpander) throws -> Result) throws -> Result {
    do {
      let changes = changes
      return try expand(changes, try ChangeExpander(changes))
    } catch let error as DecodingError {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a sample in the store cannot be read: \(error)")
    }
  }
}
