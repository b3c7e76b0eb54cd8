import Foundation
import GRDB
import HealthModel

/// What has become of a sample whose identity is deleted: it is gone, or it is here all the same under another.
struct DeletedSamples {
  private let db: Database
  private var counterparts: Counterparts
  private static let second: Int64 = 1_000_000

  init(_ db: Database) {
    self.db = db
    counterparts = Counterparts(db)
  }

  /// Whether the store has a sample that says what this deleted one says: its original, a newer reading, the same with
  /// its file, or one that was brought back.
  ///
  /// - Parameters:
  ///   - type: its row id.
  ///   - mayHaveOriginal: whether there are samples of this type with HealthKit's own UUIDs.
  mutating func isHere(
    _ sample: CodedSample, in changes: CodedChanges, type: Int64, mayHaveOriginal: Bool
  ) throws -> Bool {
    let start = sample.start.microseconds
    if let replaced = try replacement(of: sample.uuid, start: start, type: type) {
      return try isReplaced(by: replaced, start: start, type: type)
    }
    if case .present = try restoration(of: sample.uuid, start: start, type: type) { return true }
    let sideFiles = SideFileCopies(kinds: changes.kinds)
    if sideFiles.concern(sample),
      try !sideFiles.find(sample, in: changes, type: type, db).allSatisfy(\.isBare)
    {
      return true
    }
    // A deletion that another machine sent does not say what took the place.
    guard mayHaveOriginal, sample.uuid.isDerived else { return false }
    return try counterparts.original(of: sample, in: changes, type: type) != nil
  }

  func isDeleted(_ sample: CodedSample, type: Int64) throws -> Bool {
    let start = sample.start.microseconds
    return try has("tombstone", sample.uuid, from: start, to: start, type: type)
  }

  /// The identity under which a deleted sample has been brought back, or can be.
  enum Restoration {
    case present(UUID)
    case possible(UUID)
  }

  func restoration(of uuid: UUID, start: Int64, type: Int64) throws -> Restoration {
    var ordinal = 0
    while true {
      let restored = SampleIdentity.uuid(ofRestored: uuid, ordinal: ordinal)
      if try has("sample", restored, from: start, to: start, type: type) { return .present(restored) }
      guard try has("tombstone", restored, from: start, to: start, type: type) else { return .possible(restored) }
      ordinal += 1
    }
  }

  /// The sample that a tombstone names as the one that stayed.
  private func replacement(of uuid: UUID, start: Int64, type: Int64) throws -> UUID? {
    var query = try Binding(
      db, "SELECT replaced FROM tombstone WHERE type = ? AND start = ? AND uuid = ? AND replaced IS NOT NULL")
    query.bind(type)
    query.bind(start)
    query.bind(uuid)
    var replaced: UUID?
    try query.rows(db) { row in
      replaced = try row.uuid(0)
      return false
    }
    return replaced
  }

  /// Whether the sample that stayed is here, or what took its place in turn.
  private func isReplaced(by original: UUID, start: Int64, type: Int64) throws -> Bool {
    // An app's start has fractions of a second where an export's has none.
    let first = Timestamp(seconds: Timestamp(microseconds: start).seconds).microseconds
    let last = first.addingReportingOverflow(Self.second - 1).partialValue
    var seen: Set<UUID> = []
    var next: UUID? = original
    while let uuid = next, seen.insert(uuid).inserted {
      if try has("sample", uuid, from: first, to: last, type: type) { return true }
      if case .present = try restoration(of: uuid, start: start, type: type) { return true }
      next = try replacement(of: uuid, start: start, type: type)
    }
    return false
  }

  private func has(_ table: String, _ uuid: UUID, from first: Int64, to last: Int64, type: Int64) throws -> Bool {
    var query = try Binding(db, "SELECT 1 FROM \(table) WHERE type = ? AND start BETWEEN ? AND ? AND uuid = ?")
    query.bind(type)
    query.bind(first)
    query.bind(last)
    query.bind(uuid)
    return try query.integer(db) != nil
  }
}
