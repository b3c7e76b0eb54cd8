import GRDB
import HealthModel

/// What decides whether a record may be taken into a store: whose that is, and whether anything is in it yet.
public struct RecordOwner: Hashable, Sendable {
  /// As the store's characteristics tell; see ``PersonReadings``.
  public var person: Person
  /// Whether the store holds no sample; tombstones do not count.
  public var isEmpty: Bool

  /// For comparing with ``HealthStore/owner()``.
  public init(person: Person, isEmpty: Bool) {
    (self.person, self.isEmpty) = (person, isEmpty)
  }
}

extension RecordOwner {
  init(_ db: Database) throws {
    person = try Self.person(db)
    isEmpty = try Bool.fetchOne(db, sql: "SELECT NOT EXISTS(SELECT 1 FROM sample)") ?? true
  }

  /// By the characteristics that the store holds. Costs three look-ups.
  fileprivate static func person(_ db: Database) throws -> Person {
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

extension HealthStore {
  /// Whose record this is.
  public func person() async throws(StoreError) -> Person {
    try await read { db in try RecordOwner.person(db) }
  }

  /// Whether the store holds no sample.
  public func isEmpty() async throws(StoreError) -> Bool { try await owner().isEmpty }

  /// The person of the record and whether there is any sample, both in one read, so that they belong together.
  public func owner() async throws(StoreError) -> RecordOwner {
    try await read { db in try RecordOwner(db) }
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
