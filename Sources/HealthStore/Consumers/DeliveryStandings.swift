import GRDB

/// Where all consumers stand and which deliveries are paused, without what either knows besides: cheap enough to be read
/// every second or so.
public struct DeliveryStandings: Hashable, Sendable {
  /// By the names of consumers; see ``ConsumerPosition/anchor``.
  public var positions: [String: Anchor] = [:]
  /// Consumers to which nothing is delivered because the owner said so; see ``DeliveryState/paused``.
  public var paused: Set<String> = []
}

extension HealthStore.Deliveries {
  /// Where all stand, as of one moment. Throws ``StoreError``.
  public func standings() async throws(StoreError) -> DeliveryStandings {
    try await store.read { db in
      var standings = DeliveryStandings()
      try Binding(db, "SELECT name, position FROM consumer").rows(db) { row in
        if let name = row.text(0) { standings.positions[name] = Anchor(change: row.integer(1)) }
        return true
      }
      try Binding(db, "SELECT consumer FROM delivery WHERE paused IS NOT NULL").rows(db) { row in
        if let consumer = row.text(0) { standings.paused.insert(consumer) }
        return true
      }
      return standings
    }
  }
}
