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
  private var hasTombstones: Bool
  private let firstCounter: Int64
  private var counter: Int64
  /// By type id.
  private var added: [Int64: Int] = [:]
  private var removed: [Int64: Int] = [:]
  private(set) var summary = WriteSummary()

  init(_ db: Database, epochs: EpochKeeper) throws {
    self.db = db
    self.epochs = epochs
    firstCounter = try Int64.fetchOne(db, sql: "SELECT counter FROM store") ?? 0
    counter = firstCounter
    hasTombstones = try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM tombstone)") ?? false
    insertion = try db.cachedStatement(
      sql: """
        INSERT INTO sample(\(StoredChanges.sampleColumns)) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)
        ON CONFLICT(type, start, uuid) DO NOTHING
        """)
    removal = try db.cachedStatement(sql: "DELETE FROM sample WHERE type = ? AND start = ? AND uuid = ?")
    burial = try db.cachedStatement(
      sql: """
        INSERT INTO tombstone(\(StoredChanges.tombstoneColumns)) VALUES (?,?,?,?,?)
        ON CONFLICT(type, start, uuid) DO NOTHING
        """)
    lookup = try db.cachedStatement(sql: "SELECT 1 FROM tombstone WHERE type = ? AND start = ? AND uuid = ?")
  }

  /// Buries the deleted samples, whether or not the store has ever had them, and adds the others unless the store has
  /// them, or has seen them deleted.
  mutating func write(_ changes: CodedChanges) throws {
    var ids = DictionaryIDs(changes)
    for tombstone in changes.tombstones {
      try delete(tombstone, type: try ids.type(tombstone.type, db))
    }
    // Neighbours mostly have one type, and a count in a dictionary costs as much as a binding.
    var run = (type: Int64(0), count: 0)
    for sample in changes.samples {
      let type = try ids.type(sample.type, db)
      guard try insert(sample, of: changes, type: type, &ids) else {
        summary.unchanged += 1
        continue
      }
      if type != run.type {
        added[run.type, default: 0] += run.count
        run = (type, 0)
      }
      run.count += 1
    }
    added[run.type, default: 0] += run.count
    added[0] = nil
  }

  /// False if the store has the sample, or has seen it deleted.
  private mutating func insert(
    _ sample: CodedSample, of changes: CodedChanges, type: Int64, _ ids: inout DictionaryIDs
  ) throws -> Bool {
    let start = sample.start.microseconds
    if hasTombstones, try isDeleted(sample.uuid, start: start, type: type) { return false }
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
    let start = tombstone.start.microseconds
    var removing = Binding(removal)
    removing.bind(type)
    removing.bind(start)
    removing.bind(tombstone.uuid)
    try removing.run(db)
    let wasHere = sqlite3_changes(db.sqliteConnection) == 1
    hasTombstones = true

    var burying = Binding(burial)
    burying.bind(counter + 1)
    burying.bind(type)
    burying.bind(start)
    burying.bind(tombstone.uuid)
    burying.bind(tombstone.deleted.microseconds)
    try burying.run(db)
    if sqlite3_changes(db.sqliteConnection) == 1 { counter += 1 }

    if wasHere {
      removed[type, default: 0] += 1
      summary.deleted += 1
    } else {
      summary.unchanged += 1
    }
  }

  /// Writes the counter and the counts. Nothing may be written through this writer afterwards.
  mutating func finish() throws {
    // Every addition and every deletion has taken a number.
    if counter == firstCounter, removed.isEmpty { return }
    if counter > firstCounter { try epochs.cover(firstCounter + 1...counter, db) }
    try db.execute(sql: "UPDATE store SET counter = ?", arguments: [counter])
    for type in Set(added.keys).union(removed.keys) {
      let change = added[type, default: 0] - removed[type, default: 0]
      try db.execute(sql: "UPDATE type SET samples = samples + ? WHERE id = ?", arguments: [change, type])
    }
    let names = TypeNames(db)
    for (type, count) in added {
      summary.addedByType[try names.name(type)] = count
      summary.added += count
    }
  }

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
