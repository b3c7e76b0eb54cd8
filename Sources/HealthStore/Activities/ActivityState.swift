import GRDB
import HealthModel

/// The state of a recurring activity of this machine, whichever process performs it: an automation, or the pulls from
/// one machine.
public struct ActivityState: Hashable, Sendable {
  /// The name that the owner of the activity chose: `automation:morning`, `pull:6f3a…`.
  public var name: String
  /// The time at which the activity was first recorded.
  public var created: Timestamp
  /// The time at which the user paused the activity, or `nil` if it is not paused.
  public var paused: Timestamp?
  /// The time since which the activity has been due, or `nil` if it is not due.
  public var due: Timestamp?
  /// The time of the last start.
  public var started: Timestamp?
  /// The time of the last end, successful or not.
  public var ended: Timestamp?
  /// The time of the last success.
  public var succeeded: Timestamp?
  /// The time since which every run has failed, or `nil` if the last one succeeded.
  public var failing: Timestamp?
  /// The number of failures since then.
  public var failures = 0
  /// The reason for the last failure, for display.
  public var reason: String?
  /// The number of successful runs.
  public var runs = 0
  /// Data that the owner of the activity saves for the next run.
  public var mark: String?

  /// Creates the state of an activity that was never performed.
  public init(name: String, created: Timestamp) {
    self.name = name
    self.created = created
  }

  fileprivate init(_ row: Row) {
    func time(_ column: String) -> Timestamp? { (row[column] as Int64?).map(Timestamp.init(microseconds:)) }
    (name, created) = (row["name"], Timestamp(microseconds: row["created"]))
    (paused, due, started, ended) = (time("paused"), time("due"), time("started"), time("ended"))
    (succeeded, failing) = (time("succeeded"), time("failing"))
    (failures, reason, runs, mark) = (row["failures"], row["reason"], row["runs"], row["mark"])
  }
}

extension HealthStore {
  /// The states of recurring activities.
  public struct Activities: Sendable {
    let store: HealthStore
  }

  /// The states of recurring activities.
  public var activities: Activities { Activities(store: self) }
}

extension HealthStore.Activities {
  /// Returns the states of all activities whose names begin with `prefix`, by name.
  public func all(beginning prefix: String) async throws(StoreError) -> [ActivityState] {
    try await store.read { db in
      try Row.fetchAll(
        db, sql: "SELECT * FROM activity WHERE substr(name, 1, length(?1)) = ?1 ORDER BY name", arguments: [prefix]
      )
      .map(ActivityState.init)
    }
  }

  /// Returns the names of paused activities that begin with `prefix`. Cheap enough for frequent calls.
  public func paused(beginning prefix: String) async throws(StoreError) -> Set<String> {
    try await store.read { db in
      var paused: Set<String> = []
      var query = try Binding(
        db, "SELECT name FROM activity WHERE paused IS NOT NULL AND substr(name, 1, length(?1)) = ?1")
      query.bind(prefix)
      try query.rows(db) { row in
        if let name = row.text(0) { paused.insert(name) }
        return true
      }
      return paused
    }
  }

  /// Returns the state of an activity, or `nil` if it was never recorded.
  public func state(of name: String) async throws(StoreError) -> ActivityState? {
    try await store.read { db in try Self.fetch(name, db) }
  }

  /// Returns the state of an activity, and records the activity if it is new.
  public func known(_ name: String, now: Timestamp = .now) async throws(StoreError) -> ActivityState {
    if let state = try await state(of: name) { return state }
    return try await store.write { db in
      try Self.insert(name, now, db)
      return try Self.fetch(name, db) ?? ActivityState(name: name, created: now)
    }
  }

  /// Sets whether the activity is due. If it is due already, it keeps its earlier time.
  public func setDue(_ isDue: Bool, _ name: String, now: Timestamp = .now) async throws(StoreError) {
    try await store.write { db in
      try Self.insert(name, now, db)
      try db.execute(
        sql: "UPDATE activity SET due = CASE WHEN ? THEN COALESCE(due, ?) END WHERE name = ?",
        arguments: [isDue, now.microseconds, name])
    }
  }

  /// Saves data of the owner for the next run.
  public func setMark(_ mark: String?, _ name: String, now: Timestamp = .now) async throws(StoreError) {
    try await store.write { db in
      try Self.insert(name, now, db)
      try db.execute(sql: "UPDATE activity SET mark = ? WHERE name = ?", arguments: [mark, name])
    }
  }

  /// Pauses or resumes the activity. Does nothing if its state is already as requested.
  ///
  /// - Parameter event: the audit event to record.
  public func setPaused(
    _ isPaused: Bool, _ name: String, event: AuditEvent, now: Timestamp = .now
  ) async throws(StoreError) {
    try await store.write { db in
      try Self.insert(name, now, db)
      guard (try Self.fetch(name, db)?.paused != nil) != isPaused else { return }
      try AuditChain.append(event, db)
      try db.execute(
        sql: "UPDATE activity SET paused = ? WHERE name = ?", arguments: [isPaused ? now.microseconds : nil, name])
    }
  }

  /// Records the start of a run, also in the audit log.
  public func begin(_ name: String, event: AuditEvent?, now: Timestamp = .now) async throws(StoreError) {
    try await store.write { db in
      try Self.insert(name, now, db)
      if let event { try AuditChain.append(event, db) }
      try db.execute(sql: "UPDATE activity SET started = ? WHERE name = ?", arguments: [now.microseconds, name])
    }
  }

  /// Records the end of a run, also in the audit log.
  ///
  /// - Parameters:
  ///   - failure: the reason for a failure, for display; `nil` after a success.
  ///   - keepsDue: whether the activity stays due.
  public func end(
    _ name: String, failure: String?, keepsDue: Bool = false, event: AuditEvent?, now: Timestamp = .now
  ) async throws(StoreError) {
    let (time, reason) = (now.microseconds, failure.map { $0.shortened(toBytes: 1_000) })
    try await store.write { db in
      try Self.insert(name, now, db)
      if let event { try AuditChain.append(event, db) }
      if reason == nil {
        try db.execute(
          sql: """
            UPDATE activity SET ended = ?1, succeeded = ?1, failing = NULL, failures = 0, reason = NULL, runs = runs + 1,
              due = CASE WHEN ?2 THEN due END
            WHERE name = ?3
            """, arguments: [time, keepsDue, name])
      } else {
        try db.execute(
          sql: """
            UPDATE activity SET ended = ?1, failing = COALESCE(failing, ?1), failures = failures + 1, reason = ?2,
              due = CASE WHEN ?3 THEN due END
            WHERE name = ?4
            """, arguments: [time, reason, keepsDue, name])
      }
    }
  }

  /// Records that an obstacle is gone although no run has followed yet, and restores the failure state from before
  /// it.
  ///
  /// - Parameter before: the state before the obstacle; `nil` if it is unknown.
  public func noteUnhindered(_ name: String, before: ActivityState?) async throws(StoreError) {
    try await store.write { db in
      let now = try Self.fetch(name, db)
      // A success in the meantime has ended the failures. An earlier failure with the same reason was the same
      // obstacle, recorded by a process that has ended since.
      let failed = now?.succeeded == before?.succeeded && now?.reason != before?.reason ? before : nil
      try db.execute(
        sql: "UPDATE activity SET failing = ?, failures = ?, reason = ? WHERE name = ?",
        arguments: [failed?.failing?.microseconds, failed?.failures ?? 0, failed?.reason, name])
    }
  }

  /// Deletes the activity's state, including its pause.
  public func remove(_ name: String) async throws(StoreError) {
    try await store.write { db in try db.execute(sql: "DELETE FROM activity WHERE name = ?", arguments: [name]) }
  }

  private static func fetch(_ name: String, _ db: Database) throws -> ActivityState? {
    try Row.fetchOne(db, sql: "SELECT * FROM activity WHERE name = ?", arguments: [name]).map(ActivityState.init)
  }

  private static func insert(_ name: String, _ now: Timestamp, _ db: Database) throws {
    try db.execute(
      sql: "INSERT INTO activity(name, created) VALUES (?, ?) ON CONFLICT(name) DO NOTHING",
      arguments: [name, now.microseconds])
  }
}
