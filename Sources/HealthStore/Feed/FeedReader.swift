import GRDB
import HealthModel

/// A reader of pages of the change feed, in two walks along the change numbers, of samples and of tombstones.
struct FeedReader {
  struct Page {
    var stored: StoredChanges
    var anchor: Anchor
    var epoch: Epoch
    var isLast: Bool
  }

  /// The size of the metadata, payloads and names of one page in bytes. The sample that exceeds it is the last of its
  /// page.
  static let maximumText = 1 << 20
  /// The size of metadata and payload in bytes above which a sample begins a page. Other machines accept one very
  /// large sample at a time, and little beside it.
  private static let largeText = 4 << 20

  private let db: Database
  private let epochs: EpochKeeper

  init(_ db: Database, _ epochs: EpochKeeper) {
    self.db = db
    self.epochs = epochs
  }

  /// Returns a page of changes; see ``HealthStore/Feed/changes(since:epoch:filter:limit:)``.
  func page(after anchor: Anchor, epoch: Epoch?, filter: SampleFilter, cut: SampleRedaction? = nil, limit: Int) throws
    -> Page
  {
    let counter = try requirePosition(anchor, epoch)
    let condition = try FilterCondition(filter, db: db)
    let walk = try walk(
      after: anchor.change, upTo: counter, samples: condition, tombstones: condition, cut: cut, limit: limit)
    return Page(
      stored: walk.stored, anchor: Anchor(change: walk.end), epoch: try Epoch.covering(walk.end, db),
      isLast: walk.isWhole)
  }

  /// Changes in the order of their numbers.
  struct Walk {
    var stored: StoredChanges
    /// The last number that was processed.
    var end: Int64
    /// Whether the walk reached the end that was requested.
    var isWhole: Bool
  }

  /// Reads changes in the order of their numbers.
  ///
  /// - Parameters:
  ///   - start: the number before the first.
  ///   - end: the last number.
  ///   - tombstones: the filter for tombstones; `nil` for none.
  ///   - shown: whether to read the samples that this machine shows instead of those that it holds. A sample that
  ///     became hidden is then a tombstone, and a sample that is shown again an addition.
  ///   - text: the maximum size of metadata, payloads and names in bytes. The sample that exceeds it is the last.
  func walk(
    after start: Int64, upTo end: Int64, samples: FilterCondition, tombstones: FilterCondition?,
    cut: SampleRedaction? = nil,
    shown: Bool = false, limit: Int, text: Int = maximumText
  ) throws -> Walk {
    let limit = max(1, limit)
    let tables = try shown && Visibility.isUsed(db) ? Tables.shown : .held
    var stored = StoredChanges(db, cut: cut)
    var isCut = try readSamples(
      tables.samples, after: start, upTo: end, samples, limit: limit, text: text, into: &stored)
    if let tombstones {
      let last = isCut ? stored.sampleNumbers.last : nil
      let areTombstonesCut = try readTombstones(
        tables.tombstones, after: start, upTo: last ?? end, tombstones, limit: limit, text: text / 8, into: &stored)
      if areTombstonesCut {
        isCut = true
        stored.dropSamplesAfterTombstones()
      }
    }
    let isFull = stored.keepFirst(limit) >= limit
    // A walk that is not full has seen everything up to the end, whether the filter matched or not.
    let isWhole = !isFull && !isCut
    return Walk(stored: stored, end: isWhole ? end : stored.lastNumber ?? end, isWhole: isWhole)
  }

  /// Returns the counter. Throws ``StoreError/anchorOutOfRange`` if the anchor is not a position of this store.
  func requirePosition(_ anchor: Anchor, _ epoch: Epoch?) throws -> Int64 {
    guard let row = try Row.fetchOne(db, sql: "SELECT counter, tombstoneFloor FROM store") else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the store has no counter")
    }
    let counter: Int64 = row[0]
    let floor: Int64 = row[1]
    // The epoch also distinguishes a reader from before the pruning from a reader that began since.
    guard anchor.change <= counter, anchor.change == 0 || epoch != nil || anchor.change >= floor else {
      throw StoreError.anchorOutOfRange
    }
    if let epoch, try Epoch.covering(anchor.change, db) != epoch { throw StoreError.anchorOutOfRange }
    epochs.saw(counter)
    return counter
  }

  /// The SQL queries for the two walks.
  private struct Tables {
    var samples: String
    var tombstones: String

    static let held = Tables(
      samples: "SELECT \(StoredChanges.sampleColumns) FROM sample",
      tombstones: "SELECT \(StoredChanges.tombstoneColumns) FROM tombstone")

    /// The queries for shown samples. Each half is in the order of the numbers, so the cost depends on the size of
    /// the page.
    static let shown = Tables(
      samples: """
        SELECT \(StoredChanges.sampleColumns) FROM (
          SELECT \(StoredChanges.sampleColumns) FROM sample NOT INDEXED
          WHERE NOT EXISTS(SELECT 1 FROM visibility WHERE visibility.sample = sample.change)
          UNION ALL
          SELECT number, sample.\(StoredChanges.sampleColumns.dropFirst("change, ".count)) FROM visibility
          CROSS JOIN sample ON sample.change = visibility.sample WHERE number IS NOT NULL AND NOT isHidden)
        """,
      tombstones: """
        SELECT \(StoredChanges.tombstoneColumns) FROM (
          SELECT \(StoredChanges.tombstoneColumns) FROM tombstone NOT INDEXED
          UNION ALL
          SELECT number, sample.type, start, uuid, time, NULL, source, 0, NULL, NULL FROM visibility
          CROSS JOIN sample ON sample.change = visibility.sample WHERE number IS NOT NULL AND isHidden)
        """)
  }

  /// Returns true if the page ends here because of its size.
  private func readSamples(
    _ table: String, after start: Int64, upTo end: Int64, _ condition: FilterCondition, limit: Int, text: Int,
    into stored: inout StoredChanges
  ) throws -> Bool {
    var query = try Binding(
      db,
      """
      \(table) WHERE change > ? AND change <= ? \(condition.sql) ORDER BY change LIMIT ?
      """)
    query.bind(start)
    query.bind(end)
    query.bind(Int64(limit))
    var isCut = false
    try query.rows(db) { row in
      if !stored.samples.isEmpty, StoredChanges.textCount(of: row) > max(text, Self.largeText) {
        isCut = true
        return false
      }
      try stored.addSample(row)
      isCut = stored.textCount > text
      return !isCut
    }
    return isCut
  }

  /// Returns true if the page ends here because of the size of the names in it.
  private func readTombstones(
    _ table: String, after start: Int64, upTo end: Int64, _ condition: FilterCondition, limit: Int, text: Int,
    into stored: inout StoredChanges
  ) throws -> Bool {
    var query = try Binding(
      db,
      """
      \(table) WHERE change > ? AND change <= ? \(condition.sql) ORDER BY change LIMIT ?
      """)
    query.bind(start)
    query.bind(end)
    query.bind(Int64(limit))
    let maximum = stored.textCount + text
    var isCut = false
    try query.rows(db) { row in
      try stored.addTombstone(row)
      isCut = stored.textCount > maximum
      return !isCut
    }
    return isCut
  }
}
