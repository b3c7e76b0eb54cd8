import GRDB
import HealthModel

extension SampleType {
  /// The row id of the type; `nil` for one that the store has not met.
  func id(in db: Database) throws -> Int64? {
    var query = try Binding(db, "SELECT id FROM type WHERE identifier = ?")
    query.bind(rawValue)
    return try query.integer(db)
  }
}

/// Sample types by row id, each read once.
final class TypeNames {
  private let db: Database
  private var names = StoredDictionary("SELECT identifier FROM type WHERE id = ?", decode: { SampleType($0) })

  init(_ db: Database) {
    self.db = db
  }

  func name(_ id: Int64) throws -> SampleType {
    try names.value(of: id, db)
  }
}
