import Foundation
import GRDB
import HealthModel

/// Finds the sample that is one with another although its UUID differs: one came with HealthKit's UUID from an app, the
/// other from an export, which has none, and so with a derived one.
///
/// They are one when type, source name and value agree, and start and end in whole seconds: an export prints no
/// fractions of a second, and six digits of a value in the display unit of the day. The original stays and the derived
/// one gets a tombstone, on every machine alike. A tombstone names the original that took its place, because each takes
/// the place of one: of two equal records that the phone really holds, the second stays until its original comes too.
struct Counterparts {
  private let db: Database
  private var units = StoredDictionary("SELECT name FROM unit WHERE id = ?")
  private var kinds = StoredDictionary("SELECT name FROM kind WHERE id = ?")
  private var sources = StoredDictionary("SELECT json FROM source WHERE id = ?") {
    try StoreJSON.decode(Source.self, $0).name
  }

  private static let rows = """
    SELECT start, uuid, duration, source, kind, value, unit, payload FROM sample
    WHERE type = ? AND start BETWEEN ? AND ? ORDER BY start, uuid
    """

  init(_ db: Database) {
    self.db = db
  }

  /// The UUID of an original that says what a derived sample says and has not taken the place of another yet.
  ///
  /// - Parameter restored: by the identities under which originals have been brought back, these: they count as originals.
  mutating func original(
    of sample: CodedSample, in changes: CodedChanges, type: Int64, restored: [UUID: UUID] = [:]
  ) throws -> UUID? {
    var found: UUID?
    try forEachRow(at: sample.start, type: type) { candidates, row in
      let uuid = try row.uuid(1)
      guard !uuid.isDerived || restored[uuid] != nil, try candidates.agree(row, sample, changes),
        try !candidates.hasReplaced(uuid, restored[uuid], other: sample.uuid, at: sample.start, type: type)
      else { return true }
      found = uuid
      return false
    }
    return found
  }

  /// The derived sample that says what an original says: of several, the one that comes first on every machine.
  mutating func derived(
    of sample: CodedSample, in changes: CodedChanges, type: Int64, restored: [UUID: UUID] = [:]
  ) throws -> CodedTombstone? {
    var found: CodedTombstone?
    try forEachRow(at: sample.start, type: type) { candidates, row in
      let uuid = try row.uuid(1)
      guard uuid.isDerived, restored[uuid] == nil, try candidates.agree(row, sample, changes) else { return true }
      if let original = restored[sample.uuid],
        try candidates.hasReplaced(sample.uuid, original, other: uuid, at: sample.start, type: type)
      {
        return true
      }
      found = CodedTombstone(
        type: sample.type, start: Timestamp(microseconds: row.integer(0)), uuid: uuid, deleted: .now)
      return false
    }
    return found
  }

  /// Whether one of these samples, by identity, is here and says what `sample` says.
  mutating func has(
    among uuids: [UUID: UUID], oneThatSays sample: CodedSample, in changes: CodedChanges, type: Int64
  ) throws -> Bool {
    var found = false
    try forEachRow(at: sample.start, type: type) { candidates, row in
      found = uuids[try row.uuid(1)] != nil ? try candidates.agree(row, sample, changes) : false
      return !found
    }
    return found
  }

  private mutating func forEachRow(
    at start: Timestamp, type: Int64, _ body: (inout Counterparts, StoredColumns) throws -> Bool
  ) throws {
    var query = try Binding(db, Self.rows)
    query.bind(type)
    query.bind(start.second)
    try query.rows(db) { row in try body(&self, row) }
  }

  /// Whether an original has taken the place of a derived one already.
  ///
  /// - Parameters:
  ///   - uuid: under which it is here, or about to be.
  ///   - original: the identity that it had, if it was brought back.
  ///   - other: one that may be the one whose place it took, brought back.
  private func hasReplaced(
    _ uuid: UUID, _ original: UUID?, other: UUID, at start: Timestamp, type: Int64
  ) throws -> Bool {
    let deletions = DeletedSamples(db)
    let start = start.microseconds
    guard let original else { return try !deletions.replaced(by: uuid, start: start, type: type).isEmpty }
    let root = try deletions.root(of: other, start: start, type: type)
    return try [uuid, original].contains { identity in
      try deletions.replaced(by: identity, start: start, type: type).contains { $0 != root && $0 != other }
    }
  }

  /// Whether a row of ``rows``, which starts in the same second, says what `sample` says.
  private mutating func agree(_ row: StoredColumns, _ sample: CodedSample, _ changes: CodedChanges) throws -> Bool {
    let end = Timestamp(microseconds: row.integer(0) &+ row.integer(2))
    guard end.seconds == sample.end.seconds,
      try sources.value(of: row.integer(3), db)
        .isExactly(changes.sources[Int(sample.source)].name)
    else { return false }
    let kind = try kinds.value(of: row.integer(4), db)
    guard kind == changes.kinds[Int(sample.kind)] else { return false }
    let number = row.optionalDouble(5)
    let payload = sample.payload.map { changes.payloads[Int($0)] }
    switch kind {
    case "quantity":
      let unit = try row.optionalInteger(6).map { try units.value(of: $0, db) }
      return Quantity(number ?? .nan, unit ?? "").isEquivalent(
        to: Quantity(sample.number ?? .nan, sample.unit.map { changes.units[Int($0)] } ?? ""))
    case "category" where number != nil: return number == sample.number
    case "workout":
      return try Self.activity(row.text(7)) == Self.activity(payload)
    // One at a time from one source: it is the same however much each says of it.
    case "correlation", "workoutRoute", "electrocardiogram", "audiogram", "visionPrescription", "clinicalRecord":
      return true
    default: return row.text(7) == payload
    }
  }

  private static func activity(_ json: String?) throws -> WorkoutActivityType? {
    try json.map { try StoreJSON.decode(Workout.self, $0).activityType }
  }
}
