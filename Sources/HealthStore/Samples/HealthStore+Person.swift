import GRDB
import HealthModel

extension HealthStore {
  /// Whose record this is, by the characteristics that it holds. Costs three look-ups.
  public func person() async throws(StoreError) -> Person {
    try await read { db in
      var readings = PersonReadings()
      for trait in Person.Trait.allCases {
        guard let type = try trait.type.id(in: db) else { continue }
        var query = try Binding(
          db,
          """
          SELECT start, created, payload FROM sample
          WHERE type = ? AND kind = (SELECT id FROM kind WHERE name = 'characteristic')
          """)
        query.bind(type)
        try query.rows(db) { row in
          let created = row.optionalInteger(1).map { Timestamp(microseconds: row.integer(0) &+ $0) }
          let said = try StoreJSON.decode(CharacteristicValue.self, row.text(2) ?? "")
          readings.add(trait, said.value, created: created)
          return true
        }
      }
      return readings.person
    }
  }

  /// Whether the store holds no sample.
  public func isEmpty() async throws(StoreError) -> Bool {
    try await read { db in try Bool.fetchOne(db, sql: "SELECT NOT EXISTS(SELECT 1 FROM sample)") ?? true }
  }

  /// Whether a consumer whose name begins so has ever committed a batch.
  public func hasPosition(ofConsumers prefix: String) async throws(StoreError) -> Bool {
    try await read { db in
      try Bool.fetchOne(
        db, sql: "SELECT EXISTS(SELECT 1 FROM position WHERE substr(consumer, 1, length(?1)) = ?1)", arguments: [prefix]
      )
        ?? false
    }
  }
}
