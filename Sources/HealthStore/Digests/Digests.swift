import GRDB
import HealthModel
import OperatingSystem

extension HealthStore {
  /// The digests of a store's content, for comparing it with another store.
  public struct Digests: Sendable {
    let store: HealthStore
  }

  /// The digests of the store's content, for comparing it with another store.
  public var digests: Digests { Digests(store: self) }
}

extension HealthStore.Digests {
  /// The number of changes that are added to the kept digests in one transaction, which takes a fraction of a second.
  private static let digestStep: Int64 = 50_000
  /// The number of changes after the kept digests that are not worth a write.
  private static let digestRest: Int64 = 2_000

  /// Returns a digest of the samples and tombstones that pass `filter`. It equals that of any other store with the
  /// same content.
  ///
  /// The cost depends on the changes since ``keep(for:)``, and on the months that the filter covers partially.
  ///
  /// ```swift
  /// func holdTheSame(_ one: HealthStore, _ other: HealthStore) async throws -> Bool {
  ///   try await one.digests.current().record == other.digests.current().record
  /// }
  /// ```
  ///
  /// - Parameter months: the months of the starts to cover; `nil` for all.
  public func current(
    _ filter: SampleFilter = .everything, months: ClosedRange<CalendarMonth>? = nil
  ) async throws(StoreError) -> StoreDigest {
    try await store.read { [store] db in
      let counter = try Schema.counter(db)
      store.epochs.saw(counter)
      let sums = try Self.digestSums(filter, months: months, counter: counter, db)
      return StoreDigest(
        record: try sums.record(TypeNames(db)), anchor: Anchor(change: counter),
        epoch: try Epoch.covering(counter, db))
    }
  }

  /// Updates the digests that the store keeps, in steps, so that other writers get their turn. ``current(_:months:)``
  /// is correct without this, but slower. If the store cannot be written, nothing is kept, and that is no error.
  ///
  /// - Parameter limit: stops after the first step that ends later than this; `nil` for no limit.
  /// - Returns: whether the digests are as current as possible. False if the limit was reached; completed steps are
  ///   kept.
  @discardableResult
  public func keep(for limit: Duration? = nil) async throws(StoreError) -> Bool {
    try await keep(for: limit, step: Self.digestStep, rest: Self.digestRest)
  }

  /// Deletes the kept digests, so that the next digest is computed from the samples.
  public func forget() async throws(StoreError) {
    try await store.write { db in try DigestTable.clear(db) }
  }

  func keep(
    for limit: Duration? = nil, step size: Int64, rest: Int64, clock: any Clock<Duration> = ContinuousClock()
  ) async throws(StoreError) -> Bool {
    let elapsed = clock.stopwatch()
    while true {
      let step = try await store.read { db in try DigestStep(db, size: size, rest: rest) }
      guard let step else { return true }
      do {
        try await writeSoon { db in try step.write(db) }
      } catch .locked, .notPermitted, .diskFull {
        return true
      }
      if let limit, elapsed() > limit { return false }
    }
  }

  /// Writes in a transaction, unless another process has been writing for a second. Only a little work would be lost.
  private func writeSoon(_ body: @Sendable @escaping (Database) throws -> Void) async throws(StoreError) {
    do {
      try await store.pool.writeWithoutTransaction { [store] db in
        try store.patience.limited(to: 1) {
          try db.inTransaction(.immediate) {
            try body(db)
            return .commit
          }
        }
      }
    } catch {
      throw StoreError(error, path: store.path, isCancelled: Task.isCancelled)
    }
  }

  private static func digestSums(
    _ filter: SampleFilter, months: ClosedRange<CalendarMonth>?, counter: Int64, _ db: Database
  ) throws -> DigestSums {
    let wanted = (months?.lowerBound.number ?? .min)...(months?.upperBound.number ?? .max)
    let types = try filter.types.map { types in Set(try types.compactMap { try $0.id(in: db) }) }
    guard let instants = filter.instants else { return DigestSums() }
    let (first, last) = (CalendarMonth(containing: instants.lowerBound), CalendarMonth(containing: instants.upperBound))
    // The months that the filter covers partially.
    let cut = [first, last].filter {
      wanted.contains($0.number)
        && !(instants.contains($0.instants.lowerBound) && instants.contains($0.instants.upperBound))
    }
    var (lower, upper) = (max(wanted.lowerBound, first.number), min(wanted.upperBound, last.number))
    if cut.contains(first) { lower = first.number + 1 }
    if cut.contains(last) { upper = last.number - 1 }
    let sources = try FilterCondition.from(filter.sources, db)
    if !sources.isEmpty {
      // The kept digests do not distinguish sources.
      let all = Timestamp(microseconds: .min)...Timestamp(microseconds: .max)
      let meant = months.map { $0.lowerBound.instants.lowerBound...$0.upperBound.instants.upperBound } ?? all
      guard meant.overlaps(instants) else { return DigestSums() }
      let covered = meant.clamped(to: instants)
      var scan = DigestScan(db, sources: sources)
      for type in try types ?? Int64.fetchSet(db, sql: "SELECT id FROM type") {
        try scan.starts(of: type, in: covered.lowerBound.microseconds...covered.upperBound.microseconds)
      }
      return scan.sums
    }
    var sums = DigestSums()
    if lower <= upper { sums = try whole(DigestScope(types: types, months: lower...upper), counter: counter, db) }
    for month in Set(cut) {
      let part = instants.clamped(to: month.instants)
      var scan = DigestScan(db)
      for type in try types ?? Int64.fetchSet(db, sql: "SELECT id FROM type") {
        try scan.starts(of: type, in: part.lowerBound.microseconds...part.upperBound.microseconds)
      }
      sums.add(scan.sums)
    }
    return sums
  }

  /// Returns the sums of whole months: the kept digests, and the changes after them.
  private static func whole(_ scope: DigestScope, counter: Int64, _ db: Database) throws -> DigestSums {
    let position = try DigestTable.position(db)
    var sums = position > 0 ? try DigestTable.fetch(db, scope) : DigestSums()
    var scan = DigestScan(db, scope: scope)
    try scan.changes(after: position, upTo: counter)
    sums.add(scan.sums)
    return sums
  }
}

/// A step of changes to be added to the kept digests. Reading and hashing them needs no write transaction, unless
/// something is deleted meanwhile.
private struct DigestStep {
  let first: Int64
  let last: Int64
  let sums: DigestSums
  /// The number of samples and tombstones in the sums.
  let rows: Int
  let tombstoneFloor: Int64
  /// The epoch that covers the last of the changes.
  let epoch: Epoch

  /// Reads the next step. Returns `nil` if only a few changes are missing.
  init?(_ db: Database, size: Int64, rest: Int64) throws {
    guard let row = try Row.fetchOne(db, sql: "SELECT counter, tombstoneFloor FROM store") else { return nil }
    let counter: Int64 = row[0]
    tombstoneFloor = row[1]
    first = try DigestTable.position(db)
    guard counter - first > rest else { return nil }
    last = min(counter, first + size)
    rows = try Self.rows(first, last, db)
    sums = try Self.sums(first, last, db)
    epoch = try Epoch.covering(last, db)
  }

  func write(_ db: Database) throws {
    guard try DigestTable.position(db) == first else { return }
    // After a restore or an undone import, other changes have these numbers, or none.
    guard try epoch.covers(last, db) else { return }
    // A deleted or replaced row has left its number, and no row ever gets that number again.
    let isAsRead =
      try Int64.fetchOne(db, sql: "SELECT tombstoneFloor FROM store") == tombstoneFloor
      && Self.rows(first, last, db) == rows
    try DigestTable.advance(to: last, adding: isAsRead ? sums : Self.sums(first, last, db), db)
  }

  private static func rows(_ first: Int64, _ last: Int64, _ db: Database) throws -> Int {
    try ["sample", "tombstone"].reduce(0) { sum, table in
      try sum
        + (Int.fetchOne(
          db, sql: "SELECT COUNT(*) FROM \(table) NOT INDEXED WHERE change > ? AND change <= ?",
          arguments: [first, last]) ?? 0)
    }
  }

  private static func sums(_ first: Int64, _ last: Int64, _ db: Database) throws -> DigestSums {
    var scan = DigestScan(db)
    try scan.changes(after: first, upTo: last)
    return scan.sums
  }
}

/// A digest of a store's content, and the position in its changes for which it is valid.
public struct StoreDigest: Hashable, Sendable {
  /// The digest, which is equal for two stores with the same content.
  public var record: RecordDigest
  /// The position: the digest covers all changes up to it, and none after it.
  public var anchor: Anchor
  /// The epoch that covers ``anchor``.
  public var epoch: Epoch

  /// Creates a digest. `epoch` must cover `anchor`, which is not checked.
  public init(record: RecordDigest, anchor: Anchor, epoch: Epoch) {
    self.record = record
    self.anchor = anchor
    self.epoch = epoch
  }
}
