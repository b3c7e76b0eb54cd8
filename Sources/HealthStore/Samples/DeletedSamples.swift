import Foundation
import GRDB
import HealthModel

/// A finder of what became of a sample whose identity is deleted: it is gone, or it still exists under another
/// identity.
struct DeletedSamples {
  private let db: Database
  private var counterparts: Counterparts

  init(_ db: Database) {
    self.db = db
    counterparts = Counterparts(db)
  }

  /// Returns whether the store has a sample with the content of this deleted one under another identity: its
  /// original, a newer reading, the same sample with its side file, or a restored copy.
  ///
  /// - Parameters:
  ///   - type: the row id of the type.
  ///   - mayHaveOriginal: whether samples of this type with HealthKit's own UUIDs exist.
  mutating func isHere(
    _ sample: CodedSample, in changes: CodedChanges, type: Int64, mayHaveOriginal: Bool
  ) throws -> Bool {
    let start = sample.start.microseconds
    if try standIn(for: sample.uuid, start: start, type: type) != nil { return true }
    let sideFiles = SideFileCopies(kinds: changes.kinds)
    if sideFiles.concern(sample) {
      // A sample that was restored without its side file has less content.
      if try !sideFiles.find(sample, in: changes, type: type, db).allSatisfy(\.isBare) { return true }
    } else if try replaced(by: sample.uuid, start: start, type: type)
      .contains(where: { try self.restored($0, start: start, type: type) != nil })
    {
      return true
    }
    // A deletion from another machine does not name the replacement.
    let restored = try restorations(at: start, type: type, ofDerived: !sample.uuid.isDerived)
    if !restored.isEmpty,
      try counterparts.has(among: restored, oneThatSays: sample, in: changes, type: type)
    {
      return true
    }
    guard mayHaveOriginal, sample.uuid.isDerived else { return false }
    return try counterparts.hasOriginal(of: sample, in: changes, type: type)
  }

  func isDeleted(_ uuid: UUID, start: Int64, type: Int64) throws -> Bool {
    try KnownIdentities.has(.tombstone, uuid, starting: uuid.range(ofStart: start), type: type, db)
  }

  // MARK: What was brought back

  /// Returns the identity that a deleted sample gets when it is restored. All earlier ones in the sequence have been
  /// deleted again.
  func restoration(of uuid: UUID, start: Int64, type: Int64) throws -> UUID {
    var ordinal = 0
    while true {
      let restored = SampleIdentity.uuid(ofRestored: uuid, ordinal: ordinal)
      guard try isDeleted(restored, start: start, type: type) else { return restored }
      ordinal += 1
    }
  }

  /// Returns the identities under which deleted samples that start in the same second have been or can be restored,
  /// with the deleted identities as values.
  ///
  /// - Parameter isDerived: whether to consider deleted samples with derived UUIDs, or those with other UUIDs.
  func restorations(at start: Int64, type: Int64, ofDerived isDerived: Bool) throws -> [UUID: UUID] {
    var result: [UUID: UUID] = [:]
    for (uuid, start) in try deleted(at: start, type: type) where uuid.isDerived == isDerived {
      var ordinal = 0
      while true {
        let restored = SampleIdentity.uuid(ofRestored: uuid, ordinal: ordinal)
        result[restored] = uuid
        guard try isDeleted(restored, start: start, type: type) else { break }
        ordinal += 1
      }
    }
    return result
  }

  /// Returns the identity that `uuid` is a restoration of, or `uuid` itself.
  func root(of uuid: UUID, start: Int64, type: Int64) throws -> UUID {
    guard uuid.isDerived else { return uuid }
    for isDerived in [false, true] {
      if let root = try restorations(at: start, type: type, ofDerived: isDerived)[uuid] { return root }
    }
    return uuid
  }

  private func deleted(at start: Int64, type: Int64) throws -> [(uuid: UUID, start: Int64)] {
    var query = try Binding(db, "SELECT uuid, start FROM tombstone WHERE type = ? AND start BETWEEN ? AND ?")
    query.bind(type)
    query.bind(Timestamp(microseconds: start).second)
    var result: [(uuid: UUID, start: Int64)] = []
    try query.rows(db) { row in
      result.append((try row.uuid(0), row.integer(1)))
      return true
    }
    return result
  }

  // MARK: What stands for it

  /// A stored sample in the place of a deleted one.
  struct Substitute {
    /// The change number of the sample's row.
    var change: Int64
    var start: Int64
    var uuid: UUID
  }

  /// Returns the sample that a link refers to; see ``standIn(for:start:type:)``. If that sample is hidden, returns
  /// the sample that is shown in its place.
  func standIn(for link: SampleReference) throws -> Substitute? {
    guard let type = try link.type.id(in: db) else { return nil }
    guard let found = try standIn(for: link.uuid, start: link.start.microseconds, type: type) else { return nil }
    guard try Visibility.isHidden(found.change, db) else { return found }
    var visibility = Visibility(db)
    return try visibility.shown(insteadOf: found.change, type: type, start: found.start)
      .map { Substitute(change: $0.change, start: $0.start, uuid: $0.uuid) } ?? found
  }

  /// Returns the sample itself or, if it is deleted, its replacement or restored copy.
  func standIn(for uuid: UUID, start: Int64, type: Int64) throws -> Substitute? {
    var seen: Set<UUID> = []
    var next: UUID? = uuid
    while let uuid = next, seen.insert(uuid).inserted {
      if let found = try sample(uuid, start: start, type: type) ?? restored(uuid, start: start, type: type) {
        return found
      }
      next = try replacement(of: uuid, start: start, type: type)
    }
    return nil
  }

  /// Returns the restored copy of a deleted sample.
  func restored(_ uuid: UUID, start: Int64, type: Int64) throws -> Substitute? {
    var ordinal = 0
    while true {
      let restored = SampleIdentity.uuid(ofRestored: uuid, ordinal: ordinal)
      if let found = try sample(restored, start: start, type: type) { return found }
      let second = Timestamp(microseconds: start).second
      guard try KnownIdentities.has(.tombstone, restored, starting: second, type: type, db) else { return nil }
      ordinal += 1
    }
  }

  /// Returns the sample with a UUID. For a derived UUID any start in the same second matches, because an app's start
  /// has fractions of a second and an export's has none.
  private func sample(_ uuid: UUID, start: Int64, type: Int64) throws -> Substitute? {
    var query = try Binding(
      db, "SELECT change, start FROM sample WHERE type = ? AND start BETWEEN ? AND ? AND uuid = ? LIMIT 1")
    query.bind(type)
    query.bind(uuid.isDerived ? Timestamp(microseconds: start).second : uuid.range(ofStart: start))
    query.bind(uuid)
    return try query.integers(db).map { Substitute(change: $0.0, start: $0.1, uuid: uuid) }
  }

  /// Returns the sample that a tombstone names as its replacement.
  private func replacement(of uuid: UUID, start: Int64, type: Int64) throws -> UUID? {
    var query = try Binding(
      db,
      """
      SELECT replaced FROM tombstone WHERE type = ? AND start BETWEEN ? AND ? AND uuid = ? AND replaced IS NOT NULL
      """)
    query.bind(type)
    query.bind(Timestamp(microseconds: start).second)
    query.bind(uuid)
    var replaced: UUID?
    try query.rows(db) { row in
      replaced = try row.uuid(0)
      return false
    }
    return replaced
  }

  /// Returns the UUIDs of deleted samples whose tombstones name this sample as their replacement.
  func replaced(by uuid: UUID, start: Int64, type: Int64) throws -> [UUID] {
    var query = try Binding(
      db, "SELECT uuid FROM tombstone WHERE type = ? AND start BETWEEN ? AND ? AND replaced = ?")
    query.bind(type)
    query.bind(Timestamp(microseconds: start).second)
    query.bind(uuid)
    var result: [UUID] = []
    try query.rows(db) { row in
      result.append(try row.uuid(0))
      return true
    }
    return result
  }
}

extension UUID {
  /// Returns the range of starts at which to look up this UUID. A derived UUID has exactly one start. For one of
  /// HealthKit's UUIDs, an app may have truncated or rounded the start to a second.
  func range(ofStart start: Int64) -> ClosedRange<Int64> {
    if isDerived { return start...start }
    let (first, isFirst) = start.subtractingReportingOverflow(1_000_000)
    let (last, isLast) = start.addingReportingOverflow(1_000_000)
    return (isFirst ? .min : first)...(isLast ? .max : last)
  }
}

extension Timestamp {
  /// The range from the first to the last microsecond of the second that contains this timestamp.
  var second: ClosedRange<Int64> {
    let first = Timestamp(seconds: seconds).microseconds
    let (last, overflow) = first.addingReportingOverflow(999_999)
    return first...max(first, overflow ? .max : last)
  }
}
