import Foundation
import GRDB
import HealthModel

/// What the store has of one key of which a statement said that it has several records: see ``KeyStatement``.
struct KeyState {
  /// A record that is here.
  struct Record {
    var change: Int64
    /// Its identity.
    var uuid: UUID
    var stamp: KeyStatement.Stamp
  }

  /// By what they say (``KeyStatement/content``).
  var records: [UUID: Record] = [:]
  /// Of deleted records: what they said, and in which statement.
  var deletions: [UUID: KeyStatement.Stamp] = [:]

  /// Whether it was never said that the key has several.
  var isEmpty: Bool { records.isEmpty && deletions.isEmpty }

  /// The newest statement.
  var top: KeyStatement.Stamp? { max(records.values.lazy.map(\.stamp).max(), deletions.values.max()) }

  private func max(_ one: KeyStatement.Stamp?, _ other: KeyStatement.Stamp?) -> KeyStatement.Stamp? {
    guard let one, let other else { return one ?? other }
    return Swift.max(one, other)
  }
}

/// The keys with several records that start at one instant; kept from one sample to the next, which mostly starts there too.
struct KeyStates {
  /// Of more starts of a type than this, each is looked up by itself.
  private static let startLimit = 10_000

  private let db: Database
  private var place: (type: Int64, start: Int64)?
  private var states: [UUID: KeyState] = [:]
  /// The starts of all such keys of the types that were asked for; `nil` for too many.
  private var starts: [Int64: Set<Int64>?] = [:]

  init(_ db: Database) {
    self.db = db
  }

  /// Whether a type has any.
  ///
  /// - Parameter type: its row id.
  static func exist(_ type: Int64, _ db: Database) throws -> Bool {
    for sql in [
      "SELECT 1 FROM sample INDEXED BY sample_statement WHERE type = ? AND statement IS NOT NULL LIMIT 1",
      "SELECT 1 FROM tombstone INDEXED BY tombstone_statement WHERE type = ? AND statement IS NOT NULL LIMIT 1",
    ] {
      var query = try Binding(db, sql)
      query.bind(type)
      if try query.integer(db) != nil { return true }
    }
    return false
  }

  /// Whether a sample is one of several of its key.
  static func holds(_ change: Int64, _ db: Database) throws -> Bool {
    var query = try Binding(db, "SELECT 1 FROM sample WHERE change = ? AND statement IS NOT NULL")
    query.bind(change)
    return try query.integer(db) != nil
  }

  /// Whether there may be such keys at a start: most of a type have none, and need no other look.
  mutating func mayHold(type: Int64, start: Int64) throws -> Bool {
    let known: Set<Int64>?
    if let found = starts[type] {
      known = found
    } else {
      known = try readStarts(type)
      starts[type] = known
    }
    return known?.contains(start) ?? true
  }

  private func readStarts(_ type: Int64) throws -> Set<Int64>? {
    var found: Set<Int64> = []
    for sql in [
      "SELECT DISTINCT start FROM sample INDEXED BY sample_statement WHERE type = ? AND statement IS NOT NULL LIMIT ?",
      """
      SELECT DISTINCT start FROM tombstone INDEXED BY tombstone_statement
      WHERE type = ? AND statement IS NOT NULL LIMIT ?
      """,
    ] {
      var query = try Binding(db, sql)
      query.bind(type)
      query.bind(Int64(Self.startLimit))
      try query.rows(db) { row in
        found.insert(row.integer(0))
        return true
      }
    }
    return found.count < Self.startLimit ? found : nil
  }

  subscript(_ key: UUID, type type: Int64, start start: Int64) -> KeyState {
    mutating get throws {
      if place?.type != type || place?.start != start { try read(type, start) }
      return states[key] ?? KeyState()
    }
  }

  /// Takes note of what became of a key that was asked for last.
  mutating func set(_ state: KeyState, of key: UUID) {
    states[key] = state
    if let place { starts[place.type]??.insert(place.start) }
  }

  /// To be called when samples or tombstones with statements were written in another way.
  mutating func forget() { place = nil }

  private mutating func read(_ type: Int64, _ start: Int64) throws {
    states = [:]
    var samples = try Binding(
      db,
      """
      SELECT change, uuid, statement FROM sample INDEXED BY sample_statement
      WHERE type = ? AND start = ? AND statement IS NOT NULL
      """)
    samples.bind(type)
    samples.bind(start)
    try samples.rows(db) { row in
      guard let statement = try row.statement(2) else { return true }
      states[statement.key, default: KeyState()].records[statement.content] = KeyState.Record(
        change: row.integer(0), uuid: try row.uuid(1), stamp: statement.stamp)
      return true
    }
    var tombstones = try Binding(
      db,
      """
      SELECT statement FROM tombstone INDEXED BY tombstone_statement
      WHERE type = ? AND start = ? AND statement IS NOT NULL
      """)
    tombstones.bind(type)
    tombstones.bind(start)
    try tombstones.rows(db) { row in
      guard let statement = try row.statement(0) else { return true }
      states[statement.key, default: KeyState()].deletions[statement.content] = statement.stamp
      return true
    }
    place = (type, start)
  }
}

extension StoredColumns {
  /// `nil` for what was said of no key with several records.
  func statement(_ column: Int32) throws -> KeyStatement? {
    guard let bytes = blob(column) else { return nil }
    guard let statement = KeyStatement(bytes: bytes) else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "what was said of a key makes no sense")
    }
    return statement
  }
}
