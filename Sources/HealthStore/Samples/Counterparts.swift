import Foundation
import GRDB
import HealthModel

/// A finder of shown samples with the same content as another sample but a different UUID: one sample came from an
/// app with HealthKit's UUID, and the other from an export without UUIDs, so its UUID is derived.
///
/// They agree in type, source name and value, and in the whole seconds of start and end.
struct Counterparts {
  private let db: Database
  private var units = StoredDictionary.units
  private var kinds = StoredDictionary.kinds
  private var sources = StoredDictionary.sourceNames

  private static let rows = """
    SELECT start, uuid, duration, source, kind, value, unit, payload FROM sample
    WHERE type = ? AND start BETWEEN ? AND ?
      AND NOT EXISTS(SELECT 1 FROM visibility WHERE sample = sample.change AND isHidden)
    ORDER BY start, uuid
    """

  init(_ db: Database) {
    self.db = db
  }

  /// Returns whether a shown sample with HealthKit's own UUID has the content of a sample with a derived UUID.
  mutating func hasOriginal(of sample: CodedSample, in changes: CodedChanges, type: Int64) throws -> Bool {
    try has(oneThatSays: sample, in: changes, type: type) { !$0.isDerived }
  }

  /// Returns whether a shown sample with one of these UUIDs has the content of `sample`.
  mutating func has(
    among uuids: [UUID: UUID], oneThatSays sample: CodedSample, in changes: CodedChanges, type: Int64
  ) throws -> Bool {
    try has(oneThatSays: sample, in: changes, type: type) { uuids[$0] != nil }
  }

  private mutating func has(
    oneThatSays sample: CodedSample, in changes: CodedChanges, type: Int64, _ isMeant: (UUID) -> Bool
  ) throws -> Bool {
    var query = try Binding(db, Self.rows)
    query.bind(type)
    query.bind(sample.start.second)
    var found = false
    try query.rows(db) { row in
      found = isMeant(try row.uuid(1)) ? try agree(row, sample, changes) : false
      return !found
    }
    return found
  }

  /// Returns whether a row of ``rows``, which starts in the same second, has the content of `sample`.
  private mutating func agree(_ row: StoredColumns, _ sample: CodedSample, _ changes: CodedChanges) throws -> Bool {
    let end = Timestamp(microseconds: row.integer(0) &+ row.integer(2))
    guard end.seconds == sample.end.seconds,
      try sources.value(of: row.integer(3), db)
        .isExactly(changes.sources[Int(sample.source)].name)
    else { return false }
    let kind = try kinds.value(of: row.integer(4), db)
    guard kind == changes.kinds[Int(sample.kind)] else { return false }
    let stored = try StatedValue(
      kind: kind, number: row.optionalDouble(5), unit: try row.optionalInteger(6).map { try units.value(of: $0, db) },
      payload: { row.text(7) })
    let asked = try StatedValue(
      kind: kind, number: sample.number, unit: sample.unit.map { changes.units[Int($0)] },
      payload: { sample.payload.map { changes.payloads[Int($0)] } })
    return stored.isEquivalent(to: asked)
  }
}
