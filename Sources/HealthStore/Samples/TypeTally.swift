import Foundation
import GRDB
import HealthModel

/// The changes that one transaction makes to the sample counts of one type.
struct TypeTally {
  /// An SQL expression: whether the UUID of a row is derived.
  static let isDerived = "substr(hex(uuid), 13, 1) IN ('5', '8') AND substr(hex(uuid), 17, 1) IN ('8', '9', 'A', 'B')"

  /// The stored count of the type when the transaction began.
  private let samples: Int
  private let derived: Int
  /// A bit for each road by which samples with derived UUIDs ever came.
  private let roads: Int64
  private var addedRoads: Int64 = 0
  private(set) var added = 0
  private(set) var addedDerived = 0
  var removed = 0
  var removedDerived = 0
  /// The number of samples that the store had already.
  var unchanged = 0
  /// The number of samples that were not added because they have a tombstone.
  var refused = 0
  /// Whether the type has any tombstones. Most types have none and need no lookup.
  var hasTombstones: Bool
  /// Whether the type has keys with several records (``KeyStatement``).
  var hasStatements: Bool

  /// Reads the counts of a type. `type` is its row id.
  init(_ type: Int64, _ db: Database) throws {
    var counting = try Binding(db, "SELECT samples, derived, roads FROM type WHERE id = ?")
    counting.bind(type)
    var counts: (samples: Int64, derived: Int64, roads: Int64) = (0, 0, 0)
    try counting.rows(db) { row in
      counts = (row.integer(0), row.integer(1), row.integer(2))
      return false
    }
    (samples, derived, roads) = (Int(counts.samples), Int(counts.derived), counts.roads)
    var looking = try Binding(db, "SELECT 1 FROM tombstone WHERE type = ? LIMIT 1")
    looking.bind(type)
    hasTombstones = try looking.integer(db) != nil
    hasStatements = try KeyStates.exist(type, db)
  }

  /// Whether there are currently samples with derived UUIDs.
  var hasDerived: Bool { derived + addedDerived > removedDerived }
  /// Whether there are currently samples with HealthKit's own UUIDs.
  var hasOriginal: Bool { samples - derived + added - addedDerived > removed - removedDerived }

  /// Whether a sample of the type may have a copy that came by another road, or may have been deleted under another
  /// identity.
  var isMixed: Bool { hasTombstones || hasDerived && (hasOriginal || (roads | addedRoads) & Self.appRoads != 0) }

  /// Whether samples with derived UUIDs came only from exports.
  var areDerivedExported: Bool { (roads | addedRoads) & ~Self.bit(.appleExport) == 0 }

  mutating func add(_ uuid: UUID, by road: SampleRoad) {
    added += 1
    guard uuid.isDerived else { return }
    addedDerived += 1
    meet(road)
  }

  /// Records the road of a sample with a derived UUID that replaces another.
  mutating func meet(_ road: SampleRoad) { addedRoads |= Self.bit(road) }

  /// Counts samples with derived UUIDs as unchanged after they were removed and added again.
  mutating func keep(_ count: Int) {
    (added, removed) = (added - count, removed - count)
    (addedDerived, removedDerived) = (addedDerived - count, removedDerived - count)
    unchanged += count
  }

  /// Counts a reading that replaces another.
  mutating func replace(_ uuid: UUID) {
    (added, removed) = (added + 1, removed + 1)
    if uuid.isDerived { (addedDerived, removedDerived) = (addedDerived + 1, removedDerived + 1) }
  }

  /// Counts the samples of all types again, by reading the whole table.
  ///
  /// - Returns: the number of types whose stored counts were wrong.
  static func recount(_ db: Database) throws -> Int {
    try db.execute(
      sql: """
        UPDATE type SET samples = counted.samples, derived = counted.derived
        FROM (
          SELECT id, COUNT(change) AS samples, TOTAL(change IS NOT NULL AND \(isDerived)) AS derived
          FROM type LEFT JOIN sample ON sample.type = type.id GROUP BY id
        ) AS counted
        WHERE counted.id = type.id AND (type.samples, type.derived) <> (counted.samples, counted.derived)
        """)
    return db.changesCount
  }

  /// The roads of apps. Their samples never come from an export, whatever their UUIDs.
  static let appRoads = [SampleRoad.healthAppTransfer, .healthSync, .healthAutoExport].map(bit).reduce(0, |)

  private static func bit(_ road: SampleRoad) -> Int64 { 1 << Int64(road.rawValue) }

  func write(_ type: Int64, _ db: Database) throws {
    if added == removed, addedDerived == removedDerived, addedRoads & ~roads == 0 { return }
    try db.execute(
      sql: "UPDATE type SET samples = samples + ?, derived = derived + ?, roads = roads | ? WHERE id = ?",
      arguments: [added - removed, addedDerived - removedDerived, addedRoads, type])
  }
}

extension WriteSummary {
  mutating func add(_ tally: TypeTally, of type: SampleType) {
    add(
      Counts(added: tally.added, deleted: tally.removed, unchanged: tally.unchanged, refused: tally.refused), of: type)
  }
}
