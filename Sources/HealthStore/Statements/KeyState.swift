import Foundation
import GRDB
import HealthModel

/// The stored state of a key for which a statement named several records: see ``KeyStatement``.
struct KeyState {
  /// A stored record.
  struct Record {
    var change: Int64
    /// The identity of the record.
    var uuid: UUID
    var stamp: KeyStatement.Stamp
  }

  /// The stored records by ``KeyStatement/content``.
  private(set) var records: [UUID: Record] = [:]
  /// The identities of ``records``.
  private(set) var identities: Set<UUID> = []
  /// The stamps of the statements of deleted records, by content.
  private(set) var deletions: [UUID: KeyStatement.Stamp] = [:]
  /// The stamp of the newest statement.
  private(set) var top: KeyStatement.Stamp?
  /// The latest time at which the newest statement was repeated, if it is later than the statement's own time
  /// (``Repetition``).
  private(set) var again: Timestamp?
  /// Whether an export contained any of the records that are stored, or were stored before a newer statement.
  var wasImported: Bool?

  /// Whether no statement ever named several records of the key.
  var isEmpty: Bool { records.isEmpty && deletions.isEmpty }

  /// The stamp of the newest statement, with the latest time at which it was made.
  var known: KeyStatement.Stamp? {
    guard var known = top else { return nil }
    if let again { known.said = max(known.said, again) }
    return known
  }

  mutating func add(_ record: Record, content: UUID) {
    records[content] = record
    identities.insert(record.uuid)
    top = top.map { max($0, record.stamp) } ?? record.stamp
  }

  mutating func remove(content: UUID) -> Record? {
    guard let record = records.removeValue(forKey: content) else { return nil }
    identities.remove(record.uuid)
    return record
  }

  mutating func delete(content: UUID, _ stamp: KeyStatement.Stamp) {
    deletions[content] = deletions[content].map { max($0, stamp) } ?? stamp
    top = top.map { max($0, stamp) } ?? stamp
  }

  /// Removes the stored records. Only deletions of earlier statements still count.
  mutating func clear() {
    (records, identities, again, top) = ([:], [], nil, deletions.values.max())
  }

  /// Records that the newest statement was repeated.
  mutating func said(again time: Timestamp) { again = again.map { max($0, time) } ?? time }
}

/// A sample without a statement.
struct UnstatedSample {
  var change: Int64
  var copy: SampleCopy
}

/// A sample without a statement, and the keys that it may belong to: with the current name of its source, and with
/// its alias.
private struct UnstatedPlace {
  var sample: UnstatedSample
  var keys: [(key: SampleKey, first: UUID)]

  func isOf(_ key: UUID) -> Bool {
    keys.contains { $0.first == key && $0.key.ordinal(of: sample.copy.sample.uuid) != nil }
  }
}

/// The keys with several records that start at one instant. They are cached from one sample to the next, which
/// usually has the same start.
struct KeyStates {
  /// The number of starts of a type above which each start is looked up on its own.
  private static let startLimit = 10_000

  private let db: Database
  private var place: (type: Int64, start: Int64)?
  private var states: [UUID: KeyState] = [:]
  /// The derived samples at the place that have no statement, or `nil` before they are read.
  private var unstated: [UnstatedPlace]?
  /// The maximum number of samples that are read of one place.
  private static let unstatedLimit = 1_000
  /// The number of samples that may still be read in this transaction. Samples with and without statements in turns cause repeated
  /// reads of one place.
  private var unstatedBudget = 200_000
  /// A cache of the table `sourceAlias`: the name in identities by the current name of a source; `nil` for sources without an alias.
  private var aliases: [String: String?] = [:]
  /// The starts of all such keys of the requested types; `nil` for too many.
  private var starts: [Int64: Set<Int64>?] = [:]

  init(_ db: Database) {
    self.db = db
  }

  /// Returns whether a type has any such keys.
  ///
  /// - Parameter type: the row id of the type.
  static func exist(_ type: Int64, _ db: Database) throws -> Bool {
    for sql in [
      "SELECT 1 FROM sample INDEXED BY sample_statement WHERE type = ? AND statement IS NOT NULL LIMIT 1",
      "SELECT 1 FROM tombstone INDEXED BY tombstone_statement WHERE type = ? AND statement IS NOT NULL LIMIT 1",
    ] {
      var query = try Binding(db, sql)
      query.bind(type)
      if try query.integer(db) != nil { return true }
    }
    return false
  }

  /// Returns whether a sample is one of several records of its key.
  static func holds(_ change: Int64, _ db: Database) throws -> Bool {
    var query = try Binding(db, "SELECT 1 FROM sample WHERE change = ? AND statement IS NOT NULL")
    query.bind(change)
    return try query.integer(db) != nil
  }

  /// Returns whether such keys may exist at a start. Most starts of a type have none, and need no further lookup.
  mutating func mayHold(type: Int64, start: Int64) throws -> Bool {
    let known: Set<Int64>?
    if let found = starts[type] {
      known = found
    } else {
      known = try readStarts(type)
      starts[type] = known
    }
    return known?.contains(start) ?? true
  }

  private func readStarts(_ type: Int64) throws -> Set<Int64>? {
    var found: Set<Int64> = []
    for sql in [
      "SELECT DISTINCT start FROM sample INDEXED BY sample_statement WHERE type = ? AND statement IS NOT NULL LIMIT ?",
      """
      SELECT DISTINCT start FROM tombstone INDEXED BY tombstone_statement
      WHERE type = ? AND statement IS NOT NULL LIMIT ?
      """,
    ] {
      var query = try Binding(db, sql)
      query.bind(type)
      query.bind(Int64(Self.startLimit))
      try query.rows(db) { row in
        found.insert(row.integer(0))
        return true
      }
    }
    return found.count < Self.startLimit ? found : nil
  }

  /// Returns the stored state of a key.
  mutating func state(_ key: UUID, type: Int64, start: Int64) throws -> KeyState {
    if place?.type != type || place?.start != start { try read(type, start) }
    return states[key] ?? KeyState()
  }

  /// Returns whether any of `keys` has a stored state at a start.
  mutating func has(_ keys: [UUID], type: Int64, start: Int64) throws -> Bool {
    if place?.type != type || place?.start != start { try read(type, start) }
    return keys.contains { states[$0]?.isEmpty == false }
  }

  /// Updates the state of a key at the place of the last request.
  mutating func change(_ key: UUID, _ body: (inout KeyState) -> Void) {
    body(&states[key, default: KeyState()])
    if let place { starts[place.type]??.insert(place.start) }
  }

  /// Returns the samples of a key without statements. They come from files, or from exports in which the key has one
  /// record.
  mutating func unstated(_ key: UUID, type: Int64, start: Int64) throws -> [UnstatedSample] {
    if place?.type != type || place?.start != start { try read(type, start) }
    let found = try unstated ?? readUnstated(type, start)
    unstated = found
    return found.filter { $0.isOf(key) }.map(\.sample)
  }

  private mutating func readUnstated(_ type: Int64, _ start: Int64) throws -> [UnstatedPlace] {
    guard unstatedBudget > 0 else { return [] }
    let stored = try StoredSamples.read(
      db,
      where: "type = ? AND start = ? AND statement IS NULL AND substr(uuid, 7, 1) BETWEEN x'50' AND x'5F' LIMIT ?"
    ) {
      $0.bind(type)
      $0.bind(start)
      $0.bind(Int64(Self.unstatedLimit))
    }
    unstatedBudget -= stored.samples.count
    let samples = try stored.expanded { _, expander in
      try zip(stored.samples, stored.sampleNumbers).map { row, change in
        UnstatedSample(change: change, copy: SampleCopy(try expander.sample(row), road: row.road))
      }
    }
    return try samples.map { sample in
      let kind = sample.copy.sample.payload.kind
      let own = SampleKey(
        kind: [Quantity.kind, CategoryValue.kind].contains(kind) ? "record" : kind, sample: sample.copy.sample)
      return UnstatedPlace(sample: sample, keys: try keys(of: own).map { ($0, $0.uuid(ordinal: 0)) })
    }
  }

  /// Returns the given key, and the same key with the alias of its source if there is one.
  mutating func keys(of key: SampleKey) throws -> [SampleKey] {
    let alias: String?
    if let known = aliases[key.source] {
      alias = known
    } else {
      alias = try String.fetchOne(
        db, sql: "SELECT identity FROM sourceAlias WHERE name = ?", arguments: [key.source])
      aliases[key.source] = .some(alias)
    }
    guard let alias else { return [key] }
    var other = key
    other.source = alias
    return [key, other]
  }

  /// Discards the cached samples without statements. Call this when such samples were written or removed.
  mutating func forgetUnstated() { unstated = nil }

  /// Discards the cached states. Call this when samples or tombstones were written in another way.
  mutating func forget() { place = nil }

  private mutating func read(_ type: Int64, _ start: Int64) throws {
    (states, unstated) = ([:], nil)
    var times: [UUID: [(stamp: KeyStatement.Stamp, said: Int64)]] = [:]
    var samples = try Binding(
      db,
      """
      SELECT change, uuid, statement, said FROM sample INDEXED BY sample_statement LEFT JOIN repetition ON sample = change
      WHERE type = ? AND start = ? AND statement IS NOT NULL
      """)
    samples.bind(type)
    samples.bind(start)
    try samples.rows(db) { row in
      guard let statement = try row.statement(2) else { return true }
      states[statement.key, default: KeyState()].add(
        KeyState.Record(change: row.integer(0), uuid: try row.uuid(1), stamp: statement.stamp),
        content: statement.content)
      if let said = row.optionalInteger(3) { times[statement.key, default: []].append((statement.stamp, said)) }
      return true
    }
    var tombstones = try Binding(
      db,
      """
      SELECT statement FROM tombstone INDEXED BY tombstone_statement
      WHERE type = ? AND start = ? AND statement IS NOT NULL
      """)
    tombstones.bind(type)
    tombstones.bind(start)
    try tombstones.rows(db) { row in
      guard let statement = try row.statement(0) else { return true }
      states[statement.key, default: KeyState()].delete(content: statement.content, statement.stamp)
      return true
    }
    for (key, said) in times {
      for one in said where one.stamp.values == states[key]?.top?.values {
        states[key]?.said(again: Timestamp(microseconds: one.said))
      }
    }
    place = (type, start)
  }
}

extension StoredColumns {
  /// Returns the statement, or `nil` for NULL.
  func statement(_ column: Int32) throws -> KeyStatement? {
    guard let bytes = blob(column) else { return nil }
    guard let statement = KeyStatement(bytes: bytes) else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "what was said of a key makes no sense")
    }
    return statement
  }
}
