import GRDB
import HealthModel

/// The results of a consumer's deliveries to another place, whichever process attempted them.
public struct DeliveryState: Hashable, Sendable {
  /// The name of the ``FeedConsumer``.
  public var consumer: String
  /// The time at which the owner paused deliveries, or `nil` if they are not paused.
  public var paused: Timestamp?
  /// The time of the last attempt, successful or not.
  public var attempted: Timestamp?
  /// The time of the last acknowledged delivery.
  public var succeeded: Timestamp?
  /// The time since which every attempt has failed, or `nil` if the last one succeeded.
  public var failing: Timestamp?
  /// The number of failed attempts since then.
  public var failures = 0
  /// The reason for the last failure, for display.
  public var reason: String?
  /// The time before which no other attempt is made, or `nil` if no retry is scheduled.
  public var waiting: Timestamp?
  /// The total number of delivered samples and tombstones. Repeated deliveries count again.
  public var delivered = 0
  /// The total number of samples and tombstones that were permanently refused. Repeated deliveries count again.
  public var refused = 0

  /// Creates a state without attempts.
  public init(consumer: String) { self.consumer = consumer }

  fileprivate init(_ row: Row) {
    func time(_ column: String) -> Timestamp? { (row[column] as Int64?).map(Timestamp.init(microseconds:)) }
    consumer = row["consumer"]
    (paused, attempted, succeeded) = (time("paused"), time("attempted"), time("succeeded"))
    (failing, waiting, reason) = (time("failing"), time("waiting"), row["reason"])
    (failures, delivered, refused) = (row["failures"], row["delivered"], row["refused"])
  }
}

extension HealthStore {
  /// The results of deliveries.
  public struct Deliveries: Sendable {
    let store: HealthStore
  }

  /// The results of deliveries.
  public var deliveries: Deliveries { Deliveries(store: self) }
}

extension HealthStore.Deliveries {
  /// Returns the states of all deliveries that were ever attempted or paused, by consumer.
  public func all() async throws(StoreError) -> [DeliveryState] {
    try await store.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM delivery ORDER BY consumer").map(DeliveryState.init)
    }
  }

  /// Returns the state of one consumer's deliveries, or an empty state if none was ever attempted.
  public func state(of consumer: String) async throws(StoreError) -> DeliveryState {
    try await store.read { db in
      try Row.fetchOne(db, sql: "SELECT * FROM delivery WHERE consumer = ?", arguments: [consumer])
        .map(DeliveryState.init) ?? DeliveryState(consumer: consumer)
    }
  }

  /// Pauses or resumes deliveries to a consumer, and records that in the audit log. Does nothing if the state is
  /// already as requested.
  public func setPaused(_ isPaused: Bool, _ consumer: String) async throws(StoreError) {
    let now = Timestamp.now
    try await store.write { db in
      let was = try Int64.fetchOne(db, sql: "SELECT paused FROM delivery WHERE consumer = ?", arguments: [consumer])
      guard (was != nil) != isPaused else { return }
      let event = AuditEvent(
        .destinationChanged, ["destination": consumer, "change": isPaused ? "paused" : "resumed"])
      try AuditChain.append(event, db)
      try db.execute(
        sql: """
          INSERT INTO delivery(consumer, paused) VALUES (?, ?)
          ON CONFLICT(consumer) DO UPDATE SET paused = excluded.paused, waiting = NULL
          """, arguments: [consumer, isPaused ? now.microseconds : nil])
    }
  }

  /// Records a failed attempt.
  ///
  /// - Parameter waiting: the time of the next attempt, or `nil` if none is scheduled.
  public func noteFailure(_ reason: String, waiting: Timestamp?, _ consumer: String) async throws(StoreError) {
    let now = Timestamp.now.microseconds
    try await store.write { db in
      try db.execute(
        sql: """
          INSERT INTO delivery(consumer, attempted, failing, failures, reason, waiting) VALUES (?, ?, ?, 1, ?, ?)
          ON CONFLICT(consumer) DO UPDATE SET attempted = excluded.attempted,
            failing = COALESCE(failing, excluded.failing), failures = failures + 1, reason = excluded.reason,
            waiting = excluded.waiting
          """, arguments: [consumer, now, now, reason.shortened(toBytes: 1_000), waiting?.microseconds])
    }
  }

  /// Records an acknowledged delivery.
  public func noteSuccess(delivered: Int, refused: Int, _ consumer: String) async throws(StoreError) {
    let now = Timestamp.now.microseconds
    try await store.write { db in
      try db.execute(
        sql: """
          INSERT INTO delivery(consumer, attempted, succeeded, delivered, refused) VALUES (?, ?, ?, ?, ?)
          ON CONFLICT(consumer) DO UPDATE SET attempted = excluded.attempted, succeeded = excluded.succeeded,
            failing = NULL, failures = 0, reason = NULL, waiting = NULL,
            delivered = delivered + excluded.delivered, refused = refused + excluded.refused
          """, arguments: [consumer, now, now, delivered, refused])
    }
  }

  /// Records that nothing is left to deliver, which ends a series of failures.
  public func noteNothingToDo(_ consumer: String) async throws(StoreError) {
    guard try await state(of: consumer).failing != nil else { return }
    try await store.write { db in
      try db.execute(
        sql: "UPDATE delivery SET failing = NULL, failures = 0, reason = NULL, waiting = NULL WHERE consumer = ?",
        arguments: [consumer])
    }
  }

  /// Deletes the state of a consumer, including its pause.
  public func remove(_ consumer: String) async throws(StoreError) {
    try await store.write { db in
      try db.execute(sql: "DELETE FROM delivery WHERE consumer = ?", arguments: [consumer])
    }
  }
}
