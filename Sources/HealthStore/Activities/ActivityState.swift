import GRDB
import HealthModel

/// What became of something that this machine does again and again, whichever process does it: an automation, the pulls from
/// one machine.
public struct ActivityState: Hashable, Sendable {
  /// Chosen by its owner: `automation:morning`, `pull:6f3a…`.
  public var name: String
  /// When the store first heard of it.
  public var created: Timestamp
  /// Since when it is not done because the owner said so; `nil` where it is.
  public var paused: Timestamp?
  /// Since when there is a reason to do it that nobody has dealt with; `nil` where there is none.
  public var due: Timestamp?
  /// When it was last begun.
  public var started: Timestamp?
  /// When it last ended, well or not.
  public var ended: Timestamp?
  /// When it last ended well.
  public var succeeded: Timestamp?
  /// Since when it fails every time; `nil` where the last time was well.
  public var failing: Timestamp?
  /// How often since then.
  public var failures = 0
  /// Why the last time failed, for a person.
  public var reason: String?
  /// How often it has ended well.
  public var runs = 0
  /// What its owner needs to know the next time.
  public var mark: String?

  /// Was never done.
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
  /// What became of what this machine does again and again.
  public struct Activities: Sendable {
    let store: HealthStore
  }

  /// What became of what this machine does again and again.
  public var activities: Activities { Activities(store: self) }
}

extension HealthStore.Activities {
  /// All whose names begin so, by name.
  public func all(beginning prefix: String) async throws(StoreError) -> [ActivityState] {
    try await store.read { db in
      try Row.fetchAll(
        db, sql: "SELECT * FROM activity WHERE substr(name, 1, length(?1)) = ?1 ORDER BY name", arguments: [prefix]
      )
      .map(ActivityState.init)
    }
  }

  /// The names of those that begin so and are not done because the owner said so: all that has to be known of them again and
  /// again.
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

  /// `nil` of one that the store has not heard of.
  public func state(of name: String) async throws(StoreError) -> ActivityState? {
    try await store.read { db in try Self.fetch(name, db) }
  }

  /// The state of one, which the store hears of now if it has not before.
  public func known(_ name: String, now: Timestamp = .now) async throws(StoreError) -> ActivityState {
    if let state = try await state(of: name) { return state }
    return try await store.write { db in
      try Self.insert(name, now, db)
      return try Self.fetch(name, db) ?? ActivityState(name: name, created: now)
    }
  }

  /// Takes note that there is a reason to do it, or that there is none any more. A reason keeps the time of the first.
  public func setDue(_ isDue: Bool, _ name: String, now: Timestamp = .now) async throws(StoreError) {
    try await store.write { db in
      try Self.insert(name, now, db)
      try db.execute(
        sql: "UPDATE activity SET due = CASE WHEN ? THEN COALESCE(due, ?) END WHERE name = ?",
        arguments: [isDue, now.microseconds, name])
    }
  }

  /// Takes note of what its owner needs to know the next time.
  public func setMark(_ mark: String?, _ name: String, now: Timestamp = .now) async throws(StoreError) {
    try await store.write { db in
      try Self.insert(name, now, db)
      try db.execute(sql: "UPDATE activity SET mark = ? WHERE name = ?", arguments: [mark, name])
    }
  }

  /// Has it not done, or done again. Does nothing where it is so.
  ///
  /// - Parameter event: what the audit log says of it.
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

  /// Takes note that it begins, in the audit log, too.
  public func begin(_ name: String, event: AuditEvent?, now: Timestamp = .now) async throws(StoreError) {
    try await store.write { db in
      try Self.insert(name, now, db)
      if let event { try AuditChain.append(event, db) }
      try db.execute(sql: "UPDATE activity SET started = ? WHERE name = ?", arguments: [now.microseconds, name])
    }
  }

  /// Takes note that it has ended, in the audit log, too.
  ///
  /// - Parameters:
  ///   - failure: why it ended badly, for a person; `nil` where it ended well.
  ///   - keepsDue: whether the reason to do it is still there.
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

  /// Takes note that nothing hinders it any more, though it has not been done since: what failed before it was hindered
  /// still does.
  ///
  /// - Parameter before: its state before; `nil` where that is not known.
  public func noteUnhindered(_ name: String, before: ActivityState?) async throws(StoreError) {
    try await store.write { db in
      let now = try Self.fetch(name, db)
      // What has ended well meanwhile has put an end to what failed. What failed before for the same reason was the same
      // hindrance, noted by a process that has ended since.
      let failed = now?.succeeded == before?.succeeded && now?.reason != before?.reason ? before : nil
      try db.execute(
        sql: "UPDATE activity SET failing = ?, failures = ?, reason = ? WHERE name = ?",
        arguments: [failed?.failing?.microseconds, failed?.failures ?? 0, failed?.reason, name])
    }
  }

  /// Forgets it, also that it was paused.
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
