import GRDB

/// The positions of all consumers and the paused deliveries, without further details. Cheap enough to read every
/// second.
public struct DeliveryStandings: Hashable, Sendable {
  /// The positions by consumer; see ``ConsumerPosition/anchor``.
  public var positions: [String: Anchor] = [:]
  /// The consumers whose deliveries the owner has paused; see ``DeliveryState/paused``.
  public var paused: Set<String> = []
}

extension HealthStore.Deliveries {
  /// Returns all positions and pauses in one consistent read. Throws ``StoreError``.
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
