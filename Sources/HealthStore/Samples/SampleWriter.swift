import Foundation
import GRDB
import GRDBSQLite
import HealthModel

/// Writes within one transaction: gives out change numbers, interns dictionary rows, keeps the counts.
///
/// Made and used within a single `write` closure, so that a rollback leaves nothing of it behind.
struct SampleWriter {
  private let db: Database
  private let epochs: EpochKeeper
  private let insertion: Statement
  private let removal: Statement
  private let burial: Statement
  private let lookup: Statement
  private let search: Statement
  private var hasTombstones: Bool
  private let firstCounter: Int64
  private var counter: Int64
  /// By type id.
  private var tallies: [Int64: TypeTally] = [:]
  private var counterparts: Counterparts
  private var digestRemovals: DigestRemovals?
  /// The last sample was there: then the next mostly is, and looking costs less than an insert in vain.
  private var expectsPresent = false
  private var trail: ImportTrail?
  private(set) var summary = WriteSummary()

  /// - Parameter trail: of the import that writes; to be taken back from ``finish()``.
  init(_ db: Database, epochs: EpochKeeper, trail: ImportTrail? = nil) throws {
    self.db = db
    self.epochs = epochs
    self.trail = trail
    counterparts = Counterparts(db)
    firstCounter = try Int64.fetchOne(db, sql: "SELECT counter FROM store") ?? 0
    counter = firstCounter
    hasTombstones = try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM tombstone)") ?? false
    insertion = try db.cachedStatement(
      sql: """
        INSERT INTO sample(\(StoredChanges.sampleColumns)) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)
        ON CONFLICT(type, start, uuid) DO NOTHING
        """)
    removal = try db.cachedStatement(
      sql: "DELETE FROM sample WHERE type = ? AND start = ? AND uuid = ? RETURNING change, duration")
    burial = try db.cachedStatement(
      sql: """
        INSERT INTO tombstone(\(StoredChanges.tombstoneColumns), replaced) VALUES (?,?,?,?,?,?)
        ON CONFLICT(type, start, uuid) DO NOTHING
        """)
    lookup = try db.cachedStatement(sql: "SELECT 1 FROM tombstone WHERE type = ? AND start = ? AND uuid = ?")
    search = try db.cachedStatement(sql: "SELECT change FROM sample WHERE type = ? AND start = ? AND uuid = ?")
  }

  /// Buries the deleted samples, whether or not the store has ever had them, and adds the others unless the store has
  /// them, or has seen them deleted.
  mutating func write(_ changes: CodedChanges) throws {
    var ids = DictionaryIDs(changes)
    for tombstone in changes.tombstones {
      try delete(tombstone, type: try ids.type(tombstone.type, db))
    }
    // Neighbours mostly have one type, and a tally in a dictionary costs as much as a binding.
    var current = Int64(0)
    var tally = try TypeTally(current, db)
    for sample in changes.samples {
      let type = try ids.type(sample.type, db)
      if type != current {
        tallies[current] = tally
        current = type
        tally = try tallies[type] ?? TypeTally(type, db)
      }
      try add(sample, of: changes, type: type, &ids, &tally)
    }
    tallies[current] = tally
    tallies[0] = nil
  }

  /// Nothing, if the store has the sample, has seen it deleted, or has its original.
  private mutating func add(
    _ sample: CodedSample, of changes: CodedChanges, type: Int64, _ ids: inout DictionaryIDs, _ tally: inout TypeTally
  ) throws {
    let isDerived = sample.uuid.isDerived
    if try expectsPresent && isHere(sample, type: type) || isGone(sample, type: type) {
      tally.unchanged += 1
      return
    }
    if isDerived, tally.hasOriginal,
      let original = try counterparts.original(of: sample, in: changes, type: type)
    {
      let here = try number(of: sample, type: type)
      try bury(
        CodedTombstone(type: sample.type, start: sample.start, uuid: sample.uuid, deleted: .now), type: type,
        replacedBy: original, &tally)
      if here == nil { tally.unchanged += 1 }
      return
    }
    guard try insert(sample, of: changes, type: type, &ids) else {
      expectsPresent = true
      tally.unchanged += 1
      if trail != nil, let change = try number(of: sample, type: type) { trail?.meet(change) }
      return
    }
    trail?.meet(counter)
    tally.added += 1
    if isDerived {
      tally.addedDerived += 1
    } else if tally.hasDerived, let derived = try counterparts.derived(of: sample, in: changes, type: type) {
      try bury(derived, type: type, replacedBy: sample.uuid, &tally)
    }
  }

  private mutating func isHere(_ sample: CodedSample, type: Int64) throws -> Bool {
    guard let change = try number(of: sample, type: type) else {
      expectsPresent = false
      return false
    }
    trail?.meet(change)
    return true
  }

  private func isGone(_ sample: CodedSample, type: Int64) throws -> Bool {
    try hasTombstones && isDeleted(sample.uuid, start: sample.start.microseconds, type: type)
  }

  private func number(of sample: CodedSample, type: Int64) throws -> Int64? {
    var binding = Binding(search)
    binding.bind(type)
    binding.bind(sample.start.microseconds)
    binding.bind(sample.uuid)
    return try binding.integer(db)
  }

  /// False if the store has the sample.
  private mutating func insert(
    _ sample: CodedSample, of changes: CodedChanges, type: Int64, _ ids: inout DictionaryIDs
  ) throws -> Bool {
    let start = sample.start.microseconds
    var binding = Binding(insertion)
    binding.bind(counter + 1)
    binding.bind(type)
    binding.bind(start)
    binding.bind(sample.uuid)
    binding.bind(sample.end.microseconds &- start)
    binding.bind(sample.created.map { $0.microseconds &- start })
    binding.bind(try ids.source(sample.source, db))
    binding.bind(try sample.device.map { try ids.device($0, db) })
    binding.bind(try ids.kind(sample.kind, db))
    binding.bind(sample.number)
    binding.bind(try sample.unit.map { try ids.unit($0, db) })
    binding.bind(sample.payload.map { changes.payloads[Int($0)] })
    binding.bind(sample.metadata.map { changes.metadata[Int($0)] })
    try binding.run(db)
    guard sqlite3_changes(db.sqliteConnection) == 1 else { return false }
    counter += 1
    return true
  }

  private mutating func delete(_ tombstone: CodedTombstone, type: Int64) throws {
    var tally = try tallies[type] ?? TypeTally(type, db)
    let removed = tally.removed
    try bury(tombstone, type: type, replacedBy: nil, &tally)
    if tally.removed == removed { tally.unchanged += 1 }
    tallies[type] = tally
  }

  /// - Parameter original: the sample that says the same and stays.
  private mutating func bury(
    _ tombstone: CodedTombstone, type: Int64, replacedBy original: UUID?, _ tally: inout TypeTally
  ) throws {
    let start = tombstone.start.microseconds
    var removing = Binding(removal)
    removing.bind(type)
    removing.bind(start)
    removing.bind(tombstone.uuid)
    let here = try removing.integers(db)
    hasTombstones = true
    if let here {
      try forget(tombstone, type: type, change: here.0, duration: here.1)
      tally.removed += 1
      if tombstone.uuid.isDerived { tally.removedDerived += 1 }
    }

    var burying = Binding(burial)
    burying.bind(counter + 1)
    burying.bind(type)
    burying.bind(start)
    burying.bind(tombstone.uuid)
    burying.bind(tombstone.deleted.microseconds)
    burying.bind(original)
    try burying.run(db)
    if sqlite3_changes(db.sqliteConnection) == 1 { counter += 1 }
  }

  /// Takes a sample that has just been deleted out of the digests that are kept.
  private mutating func forget(_ sample: CodedTombstone, type: Int64, change: Int64, duration: Int64) throws {
    var removals = try digestRemovals ?? DigestRemovals(db)
    try removals.remove(sample, type: type, change: change, duration: duration)
    digestRemovals = removals
  }

  /// Writes the counter, the counts and the digests. Nothing may be written through this writer afterwards.
  mutating func finish() throws {
    let names = TypeNames(db)
    for (type, tally) in tallies {
      try tally.write(type, db)
      summary.add(tally, of: try names.name(type))
    }
    try trail?.write(db)
    try digestRemovals?.write(db)
    // Every addition and every deletion has taken a number, and so has a tombstone of what was not here.
    if counter == firstCounter { return }
    try epochs.cover(firstCounter + 1...counter, db)
    try db.execute(sql: "UPDATE store SET counter = ?", arguments: [counter])
  }

  /// The trail that was given, with what was met since.
  consuming func takeTrail() -> ImportTrail? { trail }

  func isDeleted(_ sample: SampleReference) throws -> Bool {
    guard let type = try sample.type.id(in: db) else { return false }
    return try isDeleted(sample.uuid, start: sample.start.microseconds, type: type)
  }

  private func isDeleted(_ uuid: UUID, start: Int64, type: Int64) throws -> Bool {
    var binding = Binding(lookup)
    binding.bind(type)
    binding.bind(start)
    binding.bind(uuid)
    return try binding.integer(db) != nil
  }
}
