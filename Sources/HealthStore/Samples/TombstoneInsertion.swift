import Foundation
import GRDB
import GRDBSQLite
import HealthModel

/// An inserter and finder of tombstones, within one transaction.
struct TombstoneInsertion {
  private let db: Database
  private let insertion: Statement
  private let completion: Statement
  private let lookup: Statement
  private let byChange: Statement
  private let crowds: CrowdedSeconds

  init(_ db: Database) throws {
    self.db = db
    insertion = try db.cachedStatement(
      sql: "INSERT INTO tombstone(\(StoredChanges.tombstoneColumns), replaced) VALUES (?,?,?,?,?,?,?,?,?,?,?)")
    completion = try db.cachedStatement(
      sql: """
        UPDATE tombstone SET change = ?1, start = ?2, deleted = MIN(deleted, ?3), duration = COALESCE(?4, duration),
          source = COALESCE(IIF(?4 IS NULL, source, ?5), source, ?5), road = IIF(?4 IS NULL, road, ?6), hint = IIF(?4 IS NULL, hint, ?7),
          statement = COALESCE(?8, statement)
        WHERE change = ?9
        """)
    byChange = try db.cachedStatement(sql: "SELECT \(Self.columns) FROM tombstone WHERE change = ?")
    crowds = CrowdedSeconds(db, .tombstone)
    lookup = try db.cachedStatement(
      sql: "SELECT \(Self.columns) FROM tombstone WHERE type = ? AND start BETWEEN ? AND ? AND uuid = ?")
  }

  /// The columns of ``Stored``.
  private static let columns = "change, start, deleted, statement, duration, road, hint"

  /// Details of a sample that was really deleted, and not only replaced.
  struct Details {
    /// The time from start to end, in microseconds.
    var duration: Int64
    var road: SampleRoad
    /// The hint of the deleted value; see ``Tombstone/hint``.
    var hint: UInt8?

    /// Returns whether this deletion's details take precedence over those of another deletion of the same sample,
    /// each of a copy that came by another road.
    func precedes(_ other: Self) -> Bool {
      (road.rank, hint ?? .max, duration) < (other.road.rank, other.hint ?? .max, other.duration)
    }
  }

  struct Stored {
    var change: Int64
    var start: Int64
    /// The time at which the sample was deleted.
    var deleted: Timestamp
    /// The stamp of the statement, if the sample was one of several records of a key.
    var stamp: KeyStatement.Stamp?
    var details: Details?
  }

  /// Returns the tombstone of a sample; see `UUID.range(ofStart:)`.
  func find(_ uuid: UUID, start: Int64, type: Int64) throws -> Stored? {
    try crowds.row(uuid, start: start, type: type, lookup, byChange) { row in
      Stored(
        change: row.integer(0), start: row.integer(1), deleted: Timestamp(microseconds: row.integer(2)),
        stamp: try row.statement(3)?.stamp,
        details: row.optionalInteger(4).map {
          Details(
            duration: $0, road: SampleRoad(stored: row.integer(5)),
            hint: row.optionalInteger(6).flatMap(UInt8.init(exactly:)))
        })
    }
  }

  /// Inserts a tombstone that the store does not have.
  ///
  /// - Parameters:
  ///   - source: the row id of the sample's source, for filters, or `nil` if it is unknown.
  ///   - statement: the statement, if the sample was one of several records of a key.
  ///   - replacement: the sample that replaces the deleted one.
  func insert(
    _ tombstone: CodedTombstone, start: Int64, type: Int64, number: Int64, source: Int64?, _ details: Details?,
    statement: KeyStatement? = nil, replacedBy replacement: UUID?
  ) throws {
    var binding = Binding(insertion)
    binding.bind(number)
    binding.bind(type)
    binding.bind(start)
    binding.bind(tombstone.uuid)
    binding.bind(tombstone.deleted.microseconds)
    binding.bind(details?.duration)
    binding.bind(source)
    binding.bind(Int64((details?.road ?? .unknown).rawValue))
    binding.bind(details?.hint.map(Int64.init))
    binding.bind(statement)
    binding.bind(replacement)
    try binding.run(db)
    if crowds.isInUse { crowds.inserted(tombstone.uuid, start: start, change: number, type: type) }
  }

  /// Updates a tombstone with other details and their source, a finer start, the time of the earliest deletion, and
  /// the newest statement. It gets a new change number, so that other stores receive the update.
  func complete(
    _ stored: Stored, start: Int64, deleted: Timestamp, number: Int64, source: Int64?, _ details: Details?,
    _ statement: KeyStatement?
  ) throws {
    var binding = Binding(completion)
    binding.bind(number)
    binding.bind(start)
    binding.bind(deleted.microseconds)
    binding.bind(details?.duration)
    binding.bind(source)
    binding.bind(Int64((details?.road ?? .unknown).rawValue))
    binding.bind(details?.hint.map(Int64.init))
    binding.bind(statement)
    binding.bind(stored.change)
    try binding.run(db)
    // The tombstone has another number now, and perhaps another start.
    crowds.forget()
    // The digests include the tombstone under its previous number.
    try DigestTable.clear(db)
  }
}
