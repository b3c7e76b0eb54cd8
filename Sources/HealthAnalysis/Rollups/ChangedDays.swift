import GRDB
import HealthModel
import HealthStore

/// A marker of the days whose blocks are outdated because the store has changed since.
struct ChangedDays {
  /// The maximum length of a sample in cells, in microseconds: the day on which clocks are set back.
  static let longest: Int64 = 25 * 3_600_000_000
  /// The maximum distance in microseconds between the starts of two copies of a sample, which may replace each other.
  private static let drift: Int64 = 1_000_000
  /// The maximum number of separate days per type. Beyond it, all days between the first and the last are marked.
  private static let fewDays = 20_000

  let db: Database
  let reader: NumberReader
  let history: FeedHistory

  /// Returns whether the file is up to date with the store and no days are marked.
  func areNone() throws -> Bool {
    let json = try CanonicalJSON.encode(history)
    guard try String.fetchOne(db, sql: "SELECT json FROM history") == json else { return false }
    return try Int.fetchOne(db, sql: "SELECT 1 FROM dirty LIMIT 1") == nil
  }

  /// Marks the outdated days and advances the file's history to that of the store. Must be called in a transaction.
  ///
  /// - Parameter mayBeOld: whether this read of the store may precede the last update of the file.
  /// - Returns: false if it does.
  func mark(mayBeOld: Bool) throws -> Bool {
    let known = try String.fetchOne(db, sql: "SELECT json FROM history").map(Self.decode)
    if known == history { return true }
    if mayBeOld, let known, known.isLater(than: history) { return false }
    let agreement = known?.agreement(with: history) ?? 0
    let types = try KeptType.all(db, reader)
    if let known, agreement < known.last {
      try db.execute(
        sql: """
          INSERT INTO dirty(type, first, last)
          SELECT \(BlockKey.typeOfKey), \(BlockKey.dayOfKey), \(BlockKey.dayOfKey) FROM block WHERE position > ?
          ON CONFLICT DO UPDATE SET last = MAX(last, excluded.last)
          """, arguments: [agreement])
    }
    if agreement == 0 {
      for type in types { try markAll(type) }
    } else {
      try markChanges(after: agreement, types)
    }
    let json = try CanonicalJSON.encode(history)
    if known == nil {
      try db.execute(sql: "INSERT INTO history(json, evidence) VALUES (?, 0)", arguments: [json])
    } else {
      try db.execute(sql: "UPDATE history SET json = ?", arguments: [json])
    }
    return true
  }

  private func markAll(_ type: KeptType) throws {
    guard let id = type.storeID, let starts = try reader.spans.starts(of: id) else { return }
    let last = RollupGrain.day(of: starts.upperBound.adding(Self.longest + LastingValues.lasting))
    try mark(type.id, RollupGrain.day(of: starts.lowerBound)...last)
  }

  private func markChanges(after number: Int64, _ types: [KeptType]) throws {
    let known = Dictionary(
      types.compactMap { type in type.storeID.map { ($0, type) } }, uniquingKeysWith: { first, _ in first })
    var days: [Int64: Set<Int64>] = [:]
    var ranges: [Int64: ClosedRange<Int64>] = [:]
    try reader.spans.forEachChange(after: number) { span in
      guard let type = known[span.type] else { return }
      // The replaced sample may have been as long as any in the blocks.
      let length = min(max(span.duration ?? 0, type.longest), Self.longest)
      let first = RollupGrain.day(of: span.start.subtracting(Self.drift))
      let last = RollupGrain.day(of: span.start.adding(length + LastingValues.lasting + Self.drift))
      if let range = ranges[span.type] {
        ranges[span.type] = min(range.lowerBound, first)...max(range.upperBound, last)
        return
      }
      for day in first...last { days[span.type, default: []].insert(day) }
      guard let found = days[span.type], found.count > Self.fewDays else { return }
      ranges[span.type] = (found.min() ?? first)...(found.max() ?? last)
      days[span.type] = nil
    }
    for (id, found) in days {
      guard let type = known[id] else { continue }
      for range in found.sorted().runs { try mark(type.id, range) }
    }
    for (id, range) in ranges {
      if let type = known[id] { try mark(type.id, range) }
    }
  }

  private func mark(_ type: Int64, _ days: ClosedRange<Int64>) throws {
    try db.cachedStatement(
      sql: """
        INSERT INTO dirty(type, first, last) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET last = MAX(last, excluded.last)
        """
    ).execute(arguments: [type, days.lowerBound, days.upperBound])
  }

  /// Marks the days on which the order of a type's sources matters.
  static func markMixed(ofType type: Int64, _ db: Database) throws {
    let keys = BlockKey.keys(type: type, days: RollupGrain.days)
    try db.execute(
      sql: """
        INSERT INTO dirty(type, first, last)
        SELECT ?, \(BlockKey.dayOfKey), \(BlockKey.dayOfKey) FROM block
        WHERE key BETWEEN ? AND ? AND isMixed
        ON CONFLICT DO UPDATE SET last = MAX(last, excluded.last)
        """, arguments: [type, keys.lowerBound, keys.upperBound])
  }

  private static func decode(_ json: String) throws -> FeedHistory {
    do {
      return try CanonicalJSON.decode(FeedHistory.self, json)
    } catch {
      throw RollupDamage()
    }
  }
}

extension Int64 {
  fileprivate func adding(_ other: Int64) -> Int64 {
    let (sum, isTooFar) = addingReportingOverflow(other)
    return isTooFar ? .max : sum
  }

  fileprivate func subtracting(_ other: Int64) -> Int64 {
    let (difference, isTooFar) = subtractingReportingOverflow(other)
    return isTooFar ? .min : difference
  }
}

extension [Int64] {
  /// The ranges of consecutive numbers in an ascending array.
  fileprivate var runs: [ClosedRange<Int64>] {
    reduce(into: []) { runs, number in
      if let last = runs.last, last.upperBound + 1 == number {
        runs[runs.count - 1] = last.lowerBound...number
      } else {
        runs.append(number...number)
      }
    }
  }
}
