import GRDB
import HealthModel

/// A consumer as it is stored.
struct ConsumerRow: Sendable {
  var name: String
  /// A random number that changes with every update, so that two processes that work for one consumer do not
  /// overwrite each other's state.
  var revision: Int64
  var state: ConsumerState
  /// The time of the last update.
  var updated: Timestamp

  static func fetch(_ name: String, _ db: Database) throws -> ConsumerRow? {
    try Row.fetchOne(db, sql: "\(select) WHERE name = ?", arguments: [name]).map(Self.init)
  }

  static func fetchAll(_ db: Database) throws -> [ConsumerRow] {
    try Row.fetchAll(db, sql: "\(select) ORDER BY name").map(Self.init)
  }

  private static let select = "SELECT name, revision, state, updated FROM consumer"

  private init(_ row: Row) throws {
    (name, revision, updated) = (row[0], row[1], Timestamp(microseconds: row[3]))
    state = try StoreJSON.decode(ConsumerState.self, row[2])
  }

  static func insert(_ name: String, _ state: ConsumerState, _ db: Database) throws {
    try db.execute(
      sql: """
        INSERT INTO consumer(name, revision, position, undone, state, updated) VALUES (?, ?, ?, ?, ?, ?)
        """,
      arguments: [
        name, newRevision(), state.position, state.undone, try StoreJSON.encode(state), Timestamp.now.microseconds,
      ])
  }

  /// Replaces the state of a consumer.
  ///
  /// - Parameter revision: the revision that the new state is based on.
  /// - Returns: the new revision, or `nil` if `revision` is not the consumer's current one.
  @discardableResult
  static func replace(_ revision: Int64, with state: ConsumerState, of name: String, _ db: Database) throws -> Int64? {
    let next = newRevision()
    try db.execute(
      sql: """
        UPDATE consumer SET revision = ?, position = ?, undone = ?, state = ?, updated = ?
        WHERE name = ? AND revision = ?
        """,
      arguments: [
        next, state.position, state.undone, try StoreJSON.encode(state), Timestamp.now.microseconds, name,
        revision,
      ])
    guard db.changesCount > 0 else { return nil }
    try WithdrawnSamples.prune(db)
    return next
  }

  static func remove(_ name: String, _ db: Database) throws -> Bool {
    try db.execute(sql: "DELETE FROM consumer WHERE name = ?", arguments: [name])
    guard db.changesCount > 0 else { return false }
    try WithdrawnSamples.prune(db)
    return true
  }

  /// Returns whether any consumer exists.
  static func exists(_ db: Database) throws -> Bool {
    try Binding(db, "SELECT 1 FROM consumer LIMIT 1").integer(db) != nil
  }

  /// Returns the last change number that every consumer has passed, or `nil` if there is no consumer.
  static func slowestPosition(_ db: Database) throws -> Int64? {
    try Int64.fetchOne(db, sql: "SELECT MIN(position) FROM consumer")
  }

  private static func newRevision() -> Int64 { .random(in: .min ... .max) }
}

// MARK: Undoing an import

extension ConsumerRow {
  /// Saves the samples that are about to be removed, and returns the consumers with a valid position.
  static func prepareRewind(to change: Int64, _ db: Database) throws -> [ConsumerRow] {
    let rows = try fetchAll(db)
    if rows.isEmpty { return [] }
    try WithdrawnSamples.add(after: change, db)
    return try rows.filter { try $0.state.epoch?.covers($0.state.position, db) ?? true }
  }

  /// Moves consumers back to a change number. Consumers before it also change, because a page in hand may contain
  /// removed samples.
  static func rewind(_ rows: [ConsumerRow], to change: Int64, _ db: Database) throws {
    let epoch = try Epoch.covering(change, db)
    for row in rows {
      var state = row.state
      state.rewind(to: change, epoch: epoch)
      try replace(row.revision, with: state, of: row.name, db)
    }
  }
}
