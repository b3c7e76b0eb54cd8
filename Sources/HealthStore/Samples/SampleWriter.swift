import Foundation
import GRDB
import GRDBSQLite
import HealthModel

/// Writes one batch inside one transaction: gives out change numbers, interns dictionary rows, keeps the counts.
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
  private let ids: DictionaryIDs
  private let firstCounter: Int64
  private var counter: Int64
  private var added: [Int64: Int] = [:]
  private var removed: [Int64: Int] = [:]
  private var digestRemovals: DigestRemovals?
  private(set) var summary = WriteSummary()

  init(_ db: Database, epochs: EpochKeeper) throws {
    self.db = db
    self.epochs = epochs
    firstCounter = try Int64.fetchOne(db, sql: "SELECT counter FROM store") ?? 0
    counter = firstCounter
    hasTombstones = try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM tombstone)") ?? false
    insertion = try db.cachedStatement(
      sql: """
        INSERT INTO sample(\(SampleRow.columns)) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)
        ON CONFLICT(type, start, uuid) DO NOTHING
        """)
    removal = try db.cachedStatement(
      sql: "DELETE FROM sample WHERE type = ? AND start = ? AND uuid = ? RETURNING change, duration")
    burial = try db.cachedStatement(
      sql: """
        INSERT INTO tombstone(change, type, start, uuid, deleted) VALUES (?,?,?,?,?)
        ON CONFLICT(type, start, uuid) DO NOTHING
        """)
    lookup = try db.cachedStatement(sql: "SELECT 1 FROM tombstone WHERE type = ? AND start = ? AND uuid = ?")
    ids = DictionaryIDs(db)
  }

  /// Adds a sample unless the store has it, or has seen it deleted.
  mutating func add(_ sample: Sample) throws {
    let type = try ids.type(sample.type)
    if hasTombstones, try isDeleted(sample, type: type) {
      summary.unchanged += 1
      return
    }
    let columns = try PayloadColumns(sample.payload, ids: ids)
    let metadata = sample.metadata.isEmpty ? nil : try StoreJSON.encode(sample.metadata)
    let source = try ids.source(sample.source)
    let device = try sample.device.map(ids.device)
    let start = sample.start.microseconds

    var binding = Binding(insertion)
    binding.bind(counter + 1)
    binding.bind(type)
    binding.bind(start)
    binding.bind(sample.uuid)
    binding.bind(sample.end.microseconds &- start)
    binding.bind(sample.created.map { $0.microseconds &- start })
    binding.bind(source)
    binding.bind(device)
    binding.bind(columns.kind)
    binding.bind(columns.value)
    binding.bind(columns.unit)
    binding.bind(columns.payload)
    binding.bind(metadata)
    try binding.run(db)
    if sqlite3_changes(db.sqliteConnection) == 1 {
      counter += 1
      added[type, default: 0] += 1
      summary.added += 1
    } else {
      summary.unchanged += 1
    }
  }

  /// Buries a sample, whether or not the store has ever had it.
  mutating func delete(_ tombstone: Tombstone) throws {
    let type = try ids.type(tombstone.sample.type)
    let start = tombstone.sample.start.microseconds
    var removing = Binding(removal)
    removing.bind(type)
    removing.bind(start)
    removing.bind(tombstone.sample.uuid)
    let here = try removing.integers(db)
    hasTombstones = true
    if let here { try forget(tombstone.sample, type: type, change: here.0, duration: here.1) }

    var burying = Binding(burial)
    burying.bind(counter + 1)
    burying.bind(type)
    burying.bind(start)
    burying.bind(tombstone.sample.uuid)
    burying.bind(tombstone.deleted.microseconds)
    try burying.run(db)
    if sqlite3_changes(db.sqliteConnection) == 1 { counter += 1 }

    if here != nil {
      removed[type, default: 0] += 1
      summary.deleted += 1
    } else {
      summary.unchanged += 1
    }
  }

  /// Takes a sample that has just been deleted out of the digests that are kept.
  private mutating func forget(_ sample: SampleReference, type: Int64, change: Int64, duration: Int64) throws {
    var removals = try digestRemovals ?? DigestRemovals(db)
    removals.remove(sample, type: type, change: change, duration: duration)
    digestRemovals = removals
  }

  /// Writes the counter, the counts and the digests. Nothing may be written through this writer afterwards.
  mutating func finish() throws {
    // Every addition and every deletion has taken a number.
    if counter == firstCounter, removed.isEmpty { return }
    if counter > firstCounter { try epochs.cover(firstCounter + 1...counter, db) }
    try digestRemovals?.write(db)
    try db.execute(sql: "UPDATE store SET counter = ?", arguments: [counter])
    for type in Set(added.keys).union(removed.keys) {
      let change = added[type, default: 0] - removed[type, default: 0]
      try db.execute(sql: "UPDATE type SET samples = samples + ? WHERE id = ?", arguments: [change, type])
    }
    let names = TypeNames(db)
    for (type, count) in added { summary.addedByType[try names.name(type)] = count }
  }

  func isDeleted(_ sample: Sample) throws -> Bool {
    try isDeleted(sample, type: try ids.type(sample.type))
  }

  private func isDeleted(_ sample: Sample, type: Int64) throws -> Bool {
    var binding = Binding(lookup)
    binding.bind(type)
    binding.bind(sample.start.microseconds)
    binding.bind(sample.uuid)
    return try binding.integer(db) != nil
  }
}

/// The columns of a payload.
struct PayloadColumns {
  var kind: Int64
  var value: Double?
  var unit: Int64?
  var payload: String?

  init(_ content: Payload, ids: DictionaryIDs) throws {
    kind = try ids.kind(content.kind)
    switch content {
    case .quantity(let quantity):
      value = quantity.value
      unit = try ids.unit(quantity.unit)
    case .category(let category):
      value = category.value.flatMap { Double(exactly: $0) }
      if category.name != nil || (category.value != nil && value == nil) { payload = try StoreJSON.encode(category) }
    case .correlation(let correlation): payload = try StoreJSON.encode(correlation)
    case .workout(let workout): payload = try StoreJSON.encode(workout)
    case .activitySummary(let summary): payload = try StoreJSON.encode(summary)
    case .characteristic(let characteristic): payload = try StoreJSON.encode(characteristic)
    case .unknown(_, let content): payload = try StoreJSON.encode(content)
    }
  }
}
