import Foundation
import GRDB
import HealthModel

/// Finds and removes rows of `sample`, one at a time, within one transaction. Removed ones leave the digests that are kept,
/// and an import that is undone brings them back.
struct SampleRows {
  /// A copy of a sample that the store has.
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

  /// - Parameter start: of a sample with HealthKit's UUID, a second around is looked at.
  func find(_ uuid: UUID, start: Int64, type: Int64) throws -> Present? {
    try crowds.row(uuid, start: start, type: type, search, byChange) { row in
      Present(change: row.integer(0), start: row.integer(1), road: SampleRoad(stored: row.integer(2)))
    }
  }

  /// Takes note of a row that was inserted by others.
  func inserted(_ uuid: UUID, start: Int64, change: Int64, type: Int64) {
    if crowds.isInUse { crowds.inserted(uuid, start: start, change: change, type: type) }
  }

  /// The number of the sample with exactly this start; its row is not read, since the index has it all.
  func changeNumber(of uuid: UUID, start: Int64, type: Int64) throws -> Int64? {
    var binding = Binding(exactSearch)
    binding.bind(type)
    binding.bind(start)
    binding.bind(uuid)
    return try binding.integer(db)
  }

  /// Whether one of `uuids` may start in `starts`: true also where there are more samples than `limit`.
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

  /// - Returns: the row id of the removed sample's source; `nil` where there was no such sample.
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

  /// Writes the digests. Nothing may be removed afterwards.
  func finish() throws {
    try digestRemovals?.write(db)
  }
}
