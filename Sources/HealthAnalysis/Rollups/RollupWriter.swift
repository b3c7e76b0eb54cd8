import Foundation
import GRDB
import HealthModel
import HealthStore

/// A writer that recomputes outdated blocks, some days of a type at a time.
struct RollupWriter {
  /// The maximum number of samples held at once, about 7 MB.
  private static let mostSamples = 100_000
  private static let mostDays: Int64 = 400

  let db: Database
  let reader: NumberReader
  /// The state of the store in this read.
  let history: FeedHistory
  /// The number of days processed at once, adapted to the number of samples in the last run.
  var daysAtOnce: Int64 = 64

  private struct TooMany: Error {}

  /// The days of a type that must be recomputed.
  private struct Dirty {
    var type: KeptType
    var days: ClosedRange<Int64>
  }

  /// Recomputes the next days. Must be called in a transaction.
  ///
  /// - Returns: the number of samples read, or `nil` if nothing was left to do.
  mutating func work() throws -> Int? {
    guard let row = try Row.fetchOne(db, sql: "SELECT type, first, last FROM dirty ORDER BY type, first LIMIT 1") else {
      return nil
    }
    let (id, first, last): (Int64, Int64, Int64) = (row[0], row[1], row[2])
    guard var type = try KeptType.find(id: id, db, reader), first <= last, RollupGrain.days.contains(first) else {
      throw RollupDamage()
    }
    let days = first...min(last, RollupGrain.days.upperBound)
    let done = try work(on: &type, days)
    try type.write(db)
    try db.execute(sql: "DELETE FROM dirty WHERE type = ? AND first = ?", arguments: [id, first])
    if done.days.upperBound < days.upperBound {
      try db.execute(
        sql: "INSERT INTO dirty VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET last = MAX(last, excluded.last)",
        arguments: [id, done.days.upperBound + 1, days.upperBound])
    }
    return done.samples
  }

  private mutating func work(
    on type: inout KeptType, _ days: ClosedRange<Int64>
  ) throws -> (days: ClosedRange<Int64>, samples: Int) {
    guard let id = type.storeID else {
      try clear(type, days)
      return (days, 0)
    }
    // Skip empty periods without reading, because a record may have gaps of years.
    let (reach, isAll) = RollupGrain.microseconds(of: days).lowerBound
      .subtractingReportingOverflow(ChangedDays.longest + LastingValues.lasting)
    guard let next = try reader.spans.firstStart(of: id, from: isAll ? .min : reach) else {
      try clear(type, days)
      return (days, 0)
    }
    let nextDay = RollupGrain.day(of: next)
    if nextDay > days.lowerBound {
      let gap = days.lowerBound...min(days.upperBound, nextDay - 1)
      try clear(type, gap)
      return (gap, 0)
    }
    if let rule = type.rule, !type.isLong { return try workOnCells(of: &type, id, rule, days) }
    return try workOnEvidence(of: type, id, days)
  }

  // MARK: Types without cells

  private func workOnEvidence(
    of type: KeptType, _ id: Int64, _ days: ClosedRange<Int64>
  ) throws -> (days: ClosedRange<Int64>, samples: Int) {
    let some = days.lowerBound...min(days.upperBound, days.lowerBound + Self.mostDays - 1)
    let recorded = try reader.spans.recorded(
      id, startingIn: RollupGrain.microseconds(of: some), every: RollupGrain.day
    ).withinDays
    try clear(type, some, recorded: recorded)
    for day in Set(recorded.map(\.stretch)) { try write(block: BlockKey.key(type: type.id, day: day)) }
    return (some, recorded.map(\.samples).reduce(0, +))
  }

  // MARK: Types with cells

  private mutating func workOnCells(
    of type: inout KeptType, _ id: Int64, _ rule: KeptType.Rule, _ all: ClosedRange<Int64>
  ) throws -> (days: ClosedRange<Int64>, samples: Int) {
    while true {
      let days = all.lowerBound...min(all.upperBound, all.lowerBound + daysAtOnce - 1)
      do {
        // A single day is read regardless of its number of samples.
        let samples = try read(&type, rule, days, atMost: days.count == 1 ? .max : Self.mostSamples)
        if type.isLong {
          try forgetCells(of: type)
          return try workOnEvidence(of: type, id, days)
        }
        try write(samples, of: type, rule, days)
        if samples.count < Self.mostSamples / 4 { daysAtOnce = min(Self.mostDays, daysAtOnce * 2) }
        return (days, samples.count)
      } catch is TooMany {
        daysAtOnce = max(1, daysAtOnce / 2)
      }
    }
  }

  private func read(
    _ type: inout KeptType, _ rule: KeptType.Rule, _ days: ClosedRange<Int64>, atMost limit: Int
  ) throws -> [Found] {
    var found: [Found] = []
    var (longest, isLong) = (type.longest, false)
    func add(_ sample: NumericSample, isNumeric: Bool) throws {
      guard found.count < limit else { throw TooMany() }
      if isNumeric {
        let (length, isTooLong) = sample.end.subtractingReportingOverflow(sample.start)
        if isTooLong || length > ChangedDays.longest { isLong = true } else { longest = max(longest, length) }
      }
      found.append(Found(sample: sample, isNumeric: isNumeric))
    }
    try reader.forEach(
      type.type, overlapping: rule.aggregation.reach(RollupGrain.microseconds(of: days)),
      withEarlier: rule.aggregation == .discreteTemporallyWeighted, noLongerThan: longest,
      other: { try add($0, isNumeric: false) }, { try add($0, isNumeric: true) })
    (type.longest, type.isLong) = (longest, isLong)
    return found
  }

  private struct Found {
    var sample: NumericSample
    /// Whether the sample has a number. Otherwise it counts only for its source.
    var isNumeric: Bool
  }

  private func write(_ found: [Found], of type: KeptType, _ rule: KeptType.Rule, _ days: ClosedRange<Int64>) throws {
    try clear(type, days, recorded: recorded(found, days))
    var leftOut: [Int64: (withoutNumber: Int, withoutUnit: Int)] = [:]
    var numbers = ConvertedNumbers(unit: rule.unit, of: type.type)
    func forEach(_ body: (NumericSample, Double) throws -> Void) throws {
      for one in found where one.isNumeric {
        let before = (numbers.withoutNumber, numbers.withoutUnit)
        if let value = numbers.value(of: one.sample, reader) {
          try body(one.sample, value)
        } else {
          let day = RollupGrain.day(of: one.sample.start)
          leftOut[day, default: (0, 0)].withoutNumber += numbers.withoutNumber - before.0
          leftOut[day, default: (0, 0)].withoutUnit += numbers.withoutUnit - before.1
        }
      }
    }
    let quarters = QuarterCells(days: days.lowerBound..<days.upperBound + 1)
    var mixed: Set<Int64> = []
    let written: Set<Int64>
    if rule.aggregation == .cumulative {
      let ranking = try KeptEvidence(db: db, reader: reader).ranking(of: type)
      try type.rank(ranking, db)
      let cells: [SumCell]
      (cells, mixed) = try quarters.sums(ranking, forEach: forEach)
      written = try write(cells, of: type, days)
    } else {
      written = try write(try quarters.discrete(rule.aggregation, forEach: forEach), of: type, days)
    }
    let started = Set(found.map { RollupGrain.day(of: $0.sample.start) }.filter(days.contains))
    for day in written.union(started) {
      try write(
        block: BlockKey.key(type: type.id, day: day), isMixed: mixed.contains(day), leftOut: leftOut[day] ?? (0, 0))
    }
  }

  private func recorded(_ found: [Found], _ days: ClosedRange<Int64>) -> [SpanReader.Recorded] {
    struct Key: Hashable {
      var day: Int64
      var source: Int64
      var device: Int64?
      var isUserEntered: Bool
    }
    var counts: [Key: SpanReader.Recorded] = [:]
    for one in found {
      let sample = one.sample
      let day = RollupGrain.day(of: sample.start)
      guard days.contains(day) else { continue }
      let key = Key(day: day, source: sample.source, device: sample.device, isUserEntered: sample.isUserEntered)
      var count =
        counts[key]
        ?? SpanReader.Recorded(
          stretch: day, source: sample.source, device: sample.device, isUserEntered: sample.isUserEntered, samples: 0,
          starts: sample.start...sample.start)
      count.samples += 1
      count.starts = min(count.starts.lowerBound, sample.start)...max(count.starts.upperBound, sample.start)
      counts[key] = count
    }
    return Array(counts.values)
  }

  /// Writes cells.
  ///
  /// - Returns: the days that have any cell.
  private func write<Cell: RollupCell>(
    _ cells: [Cell], of type: KeptType, _ days: ClosedRange<Int64>
  ) throws -> Set<Int64> {
    let hours = try db.cachedStatement(sql: "INSERT INTO hours(key, cells) VALUES (?, ?)")
    let quarters = try db.cachedStatement(sql: "INSERT INTO quarters(key, cells) VALUES (?, ?)")
    var written: Set<Int64> = []
    for (index, day) in days.enumerated() {
      let count = RollupGrain.quarter.count
      let cells = cells[index * count..<(index + 1) * count]
      let start = day * RollupGrain.day
      guard let bytes = RollupBlock.bytes(of: cells, .quarter, start: start) else { continue }
      let key = BlockKey.key(type: type.id, day: day)
      try quarters.execute(arguments: [key, Data(bytes)])
      if let bytes = RollupBlock.bytes(of: RollupBlock.hours(of: cells)[...], .hour, start: start) {
        try hours.execute(arguments: [key, Data(bytes)])
      }
      written.insert(day)
    }
    return written
  }

  private func forgetCells(of type: KeptType) throws {
    let keys = BlockKey.keys(type: type.id, days: RollupGrain.days)
    for table in ["hours", "quarters"] {
      try db.execute(
        sql: "DELETE FROM \(table) WHERE key BETWEEN ? AND ?", arguments: [keys.lowerBound, keys.upperBound])
    }
  }

  // MARK: Blocks

  /// Clears blocks. Existing blocks stay as empty ones, because they may have content again when the store goes back
  /// to an older state.
  ///
  /// - Parameter recorded: the new information about the sources of these days.
  private func clear(
    _ type: KeptType, _ days: ClosedRange<Int64>, recorded: [SpanReader.Recorded] = []
  ) throws {
    let keys = BlockKey.keys(type: type.id, days: days)
    for table in ["hours", "quarters"] {
      try db.cachedStatement(sql: "DELETE FROM \(table) WHERE key BETWEEN ? AND ?")
        .execute(arguments: [keys.lowerBound, keys.upperBound])
    }
    try db.cachedStatement(
      sql: """
        UPDATE block SET position = ?, isMixed = 0, withoutNumber = 0, withoutUnit = 0 WHERE key BETWEEN ? AND ?
        """
    ).execute(arguments: [history.last, keys.lowerBound, keys.upperBound])
    try KeptEvidence(db: db, reader: reader).replace(recorded, ofType: type.id, days: days)
  }

  private func write(
    block key: Int64, isMixed: Bool = false, leftOut: (withoutNumber: Int, withoutUnit: Int) = (0, 0)
  ) throws {
    try db.cachedStatement(
      sql: "INSERT OR REPLACE INTO block(key, position, isMixed, withoutNumber, withoutUnit) VALUES (?, ?, ?, ?, ?)"
    ).execute(arguments: [key, history.last, isMixed, leftOut.withoutNumber, leftOut.withoutUnit])
  }
}

extension [SpanReader.Recorded] {
  /// The records with those before the first day or after the last assigned to these days.
  fileprivate var withinDays: [SpanReader.Recorded] {
    var found: [SpanReader.Recorded] = []
    for one in self {
      var one = one
      one.stretch = RollupGrain.day(of: one.starts.lowerBound)
      guard one.stretch == RollupGrain.days.lowerBound || one.stretch == RollupGrain.days.upperBound,
        let other = found.firstIndex(where: {
          ($0.stretch, $0.source, $0.device, $0.isUserEntered)
            == (one.stretch, one.source, one.device, one.isUserEntered)
        })
      else {
        found.append(one)
        continue
      }
      found[other].samples += one.samples
      let starts = found[other].starts
      found[other].starts =
        Swift.min(starts.lowerBound, one.starts.lowerBound)...Swift.max(starts.upperBound, one.starts.upperBound)
    }
    return found
  }
}
