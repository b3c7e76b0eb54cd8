import Foundation
import GRDB
import HealthModel

/// A finder and remover of rows of `sample`, one at a time, within one transaction. Removed rows are subtracted from
/// the digests, and undoing the import restores them.
struct SampleRows {
  /// The stored row of a sample.
  struct Present {
    var change: Int64
    var start: Int64
    var road: SampleRoad
  }

  private let db: Database
  private let undo: UndoJournal?
  private let removal: Statement
  private let search: Statement
  private let exactSearch: Statement
  private let neighbours: Statement
  private let byChange: Statement
  private let crowds: CrowdedSeconds
  private var digestRemovals: DigestRemovals?

  init(_ db: Database, undo: UndoJournal?) throws {
    self.db = db
    self.undo = undo
    removal = try db.cachedStatement(
      sql: "DELETE FROM sample WHERE type = ? AND start = ? AND uuid = ? RETURNING change, duration, source")
    neighbours = try db.cachedStatement(
      sql: "SELECT uuid FROM sample WHERE type = ? AND start BETWEEN ? AND ? LIMIT ?")
    search = try db.cachedStatement(
      sql: "SELECT change, start, road FROM sample WHERE type = ? AND start BETWEEN ? AND ? AND uuid = ?")
    byChange = try db.cachedStatement(sql: "SELECT change, start, road FROM sample WHERE change = ?")
    crowds = CrowdedSeconds(db, .sample)
    exactSearch = try db.cachedStatement(sql: "SELECT change FROM sample WHERE type = ? AND start = ? AND uuid = ?")
  }

  /// Returns the row with a UUID and a start. For one of HealthKit's UUIDs, the start may differ by up to a second.
  func find(_ uuid: UUID, start: Int64, type: Int64) throws -> Present? {
    try crowds.row(uuid, start: start, type: type, search, byChange) { row in
      Present(change: row.integer(0), start: row.integer(1), road: SampleRoad(stored: row.integer(2)))
    }
  }

  /// Records a row that another object inserted.
  func inserted(_ uuid: UUID, start: Int64, change: Int64, type: Int64) {
    if crowds.isInUse { crowds.inserted(uuid, start: start, change: change, type: type) }
  }

  /// Returns the change number of the sample with exactly this start. Reads only the index.
  func changeNumber(of uuid: UUID, start: Int64, type: Int64) throws -> Int64? {
    var binding = Binding(exactSearch)
    binding.bind(type)
    binding.bind(start)
    binding.bind(uuid)
    return try binding.integer(db)
  }

  /// Returns whether one of `uuids` may start in `starts`. True also if there are `limit` samples or more.
  func mayHold(_ uuids: Set<UUID>, in starts: ClosedRange<Int64>, type: Int64, limit: Int) throws -> Bool {
    var query = Binding(neighbours)
    query.bind(type)
    query.bind(starts)
    query.bind(Int64(limit))
    var (rows, isAmong) = (0, false)
    try query.rows(db) { row in
      rows += 1
      isAmong = uuids.contains(try row.uuid(0))
      return !isAmong
    }
    return isAmong || rows == limit
  }

  /// Removes a row.
  ///
  /// - Returns: the row id of the removed sample's source, or `nil` if there was no such sample.
  @discardableResult
  mutating func remove(_ uuid: UUID, start: Int64, type: Int64) throws -> Int64? {
    try undo?.keep(uuid, start: start, type: type, db)
    var removing = Binding(removal)
    removing.bind(type)
    removing.bind(start)
    removing.bind(uuid)
    var row: (change: Int64, duration: Int64, source: Int64)?
    try removing.rows(db) { columns in
      row = (columns.integer(0), columns.integer(1), columns.integer(2))
      return true
    }
    guard let row else { return nil }
    if crowds.isInUse { crowds.removed(uuid, start: start, type: type) }
    var removals = try digestRemovals ?? DigestRemovals(db)
    try removals.remove(uuid, start: start, duration: row.duration, type: type, change: row.change)
    digestRemovals = removals
    return row.source
  }

  /// Writes the digests. Remove nothing afterwards.
  func finish() throws {
    try digestRemovals?.write(db)
  }
}
