import GRDB
import HealthModel

/// What became of the attempts to pass changes on to a consumer elsewhere, whichever process made them.
public struct DeliveryState: Hashable, Sendable {
  /// The ``FeedConsumer``'s.
  public var consumer: String
  /// Since when nothing is delivered because the owner said so; `nil` where it is.
  public var paused: Timestamp?
  /// The last attempt, successful or not.
  public var attempted: Timestamp?
  /// The last that was acknowledged.
  public var succeeded: Timestamp?
  /// Since when every attempt fails; `nil` where the last one succeeded.
  public var failing: Timestamp?
  /// Attempts since then.
  public var failures = 0
  /// Why the last one failed, for a person.
  public var reason: String?
  /// Before this no other attempt is made; `nil` where nobody waits.
  public var waiting: Timestamp?
  /// Samples and tombstones ever delivered, those twice that came twice.
  public var delivered = 0
  /// Likewise, of those that were refused for good.
  public var refused = 0

  /// Nothing was ever attempted.
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
  /// What became of deliveries.
  public struct Deliveries: Sendable {
    let store: HealthStore
  }

  /// What became of deliveries.
  public var deliveries: Deliveries { Deliveries(store: self) }
}

extension HealthStore.Deliveries {
  /// All that were ever attempted or paused, by consumer.
  public func all() async throws(StoreError) -> [DeliveryState] {
    try await store.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM delivery ORDER BY consumer").map(DeliveryState.init)
    }
  }

  /// That of one consumer; one of which nothing is known where nothing was ever attempted.
  public func state(of consumer: String) async throws(StoreError) -> DeliveryState {
    try await store.read { db in
      try Row.fetchOne(db, sql: "SELECT * FROM delivery WHERE consumer = ?", arguments: [consumer])
        .map(DeliveryState.init) ?? DeliveryState(consumer: consumer)
    }
  }

  /// Stops deliveries to a consumer, or lets them go on, and writes that into the audit log. Does nothing where it is so.
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

  /// Takes note of an attempt that failed.
  ///
  /// - Parameter waiting: when the next is made; `nil` where nobody will make it.
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

  /// Takes note of what was acknowledged.
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

  /// Takes note that everything is there, so that nothing fails any more.
  public func noteNothingToDo(_ consumer: String) async throws(StoreError) {
    guard try await state(of: consumer).failing != nil else { return }
    try await store.write { db in
      try db.execute(
        sql: "UPDATE delivery SET failing = NULL, failures = 0, reason = NULL, waiting = NULL WHERE consumer = ?",
        arguments: [consumer])
    }
  }

  /// Forgets what is known of a consumer, also that it was paused.
  public func remove(_ consumer: String) async throws(StoreError) {
    try await store.write { db in
      try db.execute(sql: "DELETE FROM delivery WHERE consumer = ?", arguments: [consumer])
    }
  }
}
