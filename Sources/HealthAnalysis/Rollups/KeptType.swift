import GRDB
import HealthModel
import HealthStore

/// A type in a rollup file.
struct KeptType {
  /// The type's identifier in the file.
  var id: Int64
  /// The type's identifier in this read of the store, or `nil` if the store does not contain the type.
  var storeID: Int64?
  var type: SampleType
  /// The length of the longest sample read so far, in microseconds.
  var longest: Int64
  /// Whether a sample is too long for cells, so that the type's statistics are computed from samples.
  var isLong: Bool

  /// The length of the longest sample of the type in microseconds, or `nil` if it is unknown.
  var longestOfAll: Int64? { rule == nil || isLong ? nil : longest }

  /// The aggregation and unit of the type's cells, or `nil` for a type without cells.
  var rule: Rule? { Rule(type) }

  struct Rule: Hashable {
    var aggregation: SampleTypeCatalogue.Aggregation
    var unit: String

    init?(_ type: SampleType) {
      guard let entry = SampleTypeCatalogue.healthKit[type], let aggregation = entry.aggregation,
        let unit = entry.canonicalUnit
      else { return nil }
      (self.aggregation, self.unit) = (aggregation, unit)
    }

    var text: String { "\(aggregation.rawValue) \(unit)" }
  }

  /// Returns all types of the store and the file. New types are added to the file.
  static func all(_ db: Database, _ reader: NumberReader) throws -> [KeptType] {
    let store = Dictionary(
      try reader.spans.types().map { ($0.type.rawValue, $0.id) }, uniquingKeysWith: { first, _ in first })
    let known = try String.fetchSet(db, sql: "SELECT name FROM type")
    for name in store.keys.sorted() where !known.contains(name) {
      try db.execute(
        sql: "INSERT INTO type(name, rule) VALUES (?, ?)", arguments: [name, Rule(SampleType(name))?.text])
    }
    return try Row.fetchAll(db, sql: "SELECT id, name, longest, isLong FROM type").map { KeptType($0, store) }
  }

  /// Returns the type with the given identifier in the file.
  static func find(id: Int64, _ db: Database, _ reader: NumberReader) throws -> KeptType? {
    guard
      let row = try Row.fetchOne(db, sql: "SELECT id, name, longest, isLong FROM type WHERE id = ?", arguments: [id])
    else { return nil }
    let name: String = row[1]
    let storeID = try reader.spans.types().first { $0.type.rawValue == name }?.id
    return KeptType(row, storeID.map { [name: $0] } ?? [:])
  }

  static func find(_ type: SampleType, _ db: Database) throws -> KeptType? {
    try Row.fetchOne(db, sql: "SELECT id, name, longest, isLong FROM type WHERE name = ?", arguments: [type.rawValue])
      .map { KeptType($0, [:]) }
  }

  private init(_ row: Row, _ store: [String: Int64]) {
    let name: String = row[1]
    self.init(id: row[0], storeID: store[name], type: SampleType(name), longest: row[2], isLong: row[3])
  }

  private init(id: Int64, storeID: Int64?, type: SampleType, longest: Int64, isLong: Bool) {
    (self.id, self.storeID, self.type, self.longest, self.isLong) = (id, storeID, type, longest, isLong)
  }

  func write(_ db: Database) throws {
    try db.execute(
      sql: "UPDATE type SET longest = ?, isLong = ? WHERE id = ?", arguments: [longest, isLong, id])
  }

  /// Returns the ranking under which the cells were computed, or `nil` if there is none yet.
  func ranking(_ db: Database) throws -> (kept: KeptRanking, isCurrent: Bool)? {
    guard
      let row = try Row.fetchOne(
        db, sql: "SELECT ranking, ranked = evidence FROM type, history WHERE id = ? AND ranking IS NOT NULL",
        arguments: [id])
    else { return nil }
    do {
      return (try CanonicalJSON.decode(KeptRanking.self, row[0]), row[1])
    } catch {
      throw RollupDamage()
    }
  }

  /// Returns whether the cells were computed under the current ranking, or do not depend on one.
  func isRanked(_ db: Database, _ reader: NumberReader) throws -> Bool {
    guard rule?.aggregation == .cumulative, !isLong, let known = try ranking(db) else { return true }
    return try known.isCurrent && known.kept.chosen == reader.settings().firstSources[type]
  }

  /// Stores the ranking and marks days whose cells were computed under a different one.
  func rank(_ ranking: KeptRanking, _ db: Database) throws {
    if let older = try self.ranking(db)?.kept, !ranking.keeps(older) { try ChangedDays.markMixed(ofType: id, db) }
    try db.execute(
      sql: "UPDATE type SET ranking = ?, ranked = (SELECT evidence FROM history) WHERE id = ?",
      arguments: [try CanonicalJSON.encode(ranking), id])
  }
}
