import GRDB
import HealthModel

/// The person of a store and whether the store is empty, which decide whether another record may be added to it.
public struct RecordOwner: Hashable, Sendable {
  /// The person according to the store's characteristics; see ``PersonReadings``.
  public var person: Person
  /// Whether the store holds no samples. Tombstones do not count.
  public var isEmpty: Bool

  /// Creates an owner to compare with ``HealthStore/owner()``.
  public init(person: Person, isEmpty: Bool) {
    (self.person, self.isEmpty) = (person, isEmpty)
  }
}

extension RecordOwner {
  init(_ db: Database) throws {
    person = try Self.person(db)
    isEmpty = try Bool.fetchOne(db, sql: "SELECT NOT EXISTS(SELECT 1 FROM sample)") ?? true
  }

  /// Returns the person according to the stored characteristics. Costs three lookups.
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
  /// Returns the person whose record this is.
  public func person() async throws(StoreError) -> Person {
    try await read { db in try RecordOwner.person(db) }
  }

  /// Returns whether the store holds no samples.
  public func isEmpty() async throws(StoreError) -> Bool { try await owner().isEmpty }

  /// Returns the person of the record and whether it is empty, from one consistent read.
  public func owner() async throws(StoreError) -> RecordOwner {
    try await read { db in try RecordOwner(db) }
  }

  /// Returns whether a consumer whose name begins with `prefix` has ever committed a batch.
  public func hasPosition(ofConsumers prefix: String) async throws(StoreError) -> Bool {
    try await read { db in
      try Bool.fetchOne(
        db, sql: "SELECT EXISTS(SELECT 1 FROM position WHERE substr(consumer, 1, length(?1)) = ?1)", arguments: [prefix]
      )
        ?? false
    }
  }
}
