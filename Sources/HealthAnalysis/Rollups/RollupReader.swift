import GRDB
import HealthModel
import HealthStore

/// A reader that answers queries from the cells of an up-to-date rollup file.
struct RollupReader {
  let db: Database
  let reader: NumberReader

  /// Returns whether cells can answer the query. Cells contain all sources, and samples regardless of their start.
  static func canAnswer(_ query: StatisticsQuery) -> Bool {
    query.sources == nil && query.startingIn == nil
      && SampleTypeCatalogue.healthKit[query.type]?.aggregation != nil
  }

  /// Returns the statistics.
  ///
  /// - Parameter query: a query for which ``canAnswer(_:)`` is true.
  /// - Returns: `nil` if the type has no cells after all.
  func statistics(_ query: StatisticsQuery) throws -> Statistics? {
    guard let type = try KeptType.find(query.type, db),
      let rule = type.rule, !type.isLong
    else {
      return nil
    }
    var statistics = Statistics(
      type: type.type, unit: rule.unit, aggregation: rule.aggregation, size: query.size, zone: query.zone.name,
      values: [])
    statistics.weekStartsOnSunday = query.weekStartsOnSunday
    statistics.implausibleTime = try query.implausible(reader)
    guard let extent = try extent(of: type), let counted = try query.plausible(extent, reader),
      let buckets = try query.buckets(counted)
    else { return statistics }
    guard let leftOut = try leftOut(of: type, buckets.range) else { return nil }
    (statistics.withoutNumber, statistics.withoutUnit) = leftOut
    // Buckets that do not consist of cells are computed from the samples.
    let whole = buckets.edges.indices.dropLast().map { index in
      buckets.edges[index...index + 1].allSatisfy { $0 % RollupGrain.quarter.length == 0 }
    }
    let grain =
      RollupGrain(edges: whole.indices.lazy.filter { whole[$0] }.flatMap { buckets.edges[$0...$0 + 1] }) ?? .quarter
    var numbers = ConvertedNumbers(unit: rule.unit, of: type.type)
    let parts = buckets.edges.indices.filter { $0 < whole.count && !whole[$0] }.map { index in
      (index: index, edges: Array(buckets.edges[index...index + 1]))
    }
    var found: [(index: Int, number: BucketStatistics.Number)]
    if rule.aggregation == .cumulative {
      guard let ranking = try type.ranking(db)?.kept.table else { return nil }
      found = try cells(SumCell.self, of: type, grain, buckets, whole).map { index, cell in
        (index, .sum(MergedSum(cell, ranking)))
      }
      for (index, edges) in parts {
        found += try query.sums(reader, edges, ranking, &numbers, noLongerThan: type.longest).map { (index, $0.number) }
      }
    } else {
      found = try cells(DiscreteCell.self, of: type, grain, buckets, whole).compactMap { index, cell in
        cell.values(rule.aggregation).map { (index, .discrete($0)) }
      }
      for (index, edges) in parts {
        found += try query.discrete(reader, edges, rule.aggregation, &numbers, noLongerThan: type.longest)
          .map { (index, $0.number) }
      }
    }
    found.sort { $0.index < $1.index }
    statistics.values = try query.values(found, buckets, reader)
    return statistics
  }

  /// Returns the range from the first start of a type's samples to their last end or later.
  private func extent(of type: KeptType) throws -> ClosedRange<Int64>? {
    let row = try Row.fetchOne(
      db,
      sql: """
        SELECT MIN(first), (SELECT MAX(day) FROM evidence WHERE type = ?1) FROM evidence
        WHERE type = ?1 AND day = (SELECT MIN(day) FROM evidence WHERE type = ?1)
        """, arguments: [type.id])
    guard let row, let first: Int64 = row[0], let day: Int64 = row[1] else { return nil }
    let end = RollupGrain.microseconds(of: day...day).upperBound
    let (last, isTooFar) = end.addingReportingOverflow(type.longest)
    return first...max(first, isTooFar ? .max : last)
  }

  /// Returns the numbers of samples without a number or in another unit, or `nil` if some may overlap the range's
  /// edges.
  private func leftOut(of type: KeptType, _ range: Range<Int64>) throws -> (withoutNumber: Int, withoutUnit: Int)? {
    let first = RollupGrain.day(of: range.lowerBound)
    let last = RollupGrain.day(of: range.upperBound)
    let days = max(first - 2, RollupGrain.days.lowerBound)...last
    let keys = BlockKey.keys(type: type.id, days: days)
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT key, withoutNumber, withoutUnit FROM block
        WHERE key BETWEEN ? AND ? AND (withoutNumber > 0 OR withoutUnit > 0)
        """, arguments: [keys.lowerBound, keys.upperBound])
    var sums = (withoutNumber: 0, withoutUnit: 0)
    for row in rows {
      let day = BlockKey.day(row[0])
      if day <= first || day == last { return nil }
      sums.withoutNumber += row[1] as Int
      sums.withoutUnit += row[2] as Int
    }
    return sums
  }

  /// Returns the combined cells of each bucket that consists of whole cells.
  private func cells<Cell: RollupCell>(
    _ kind: Cell.Type, of type: KeptType, _ grain: RollupGrain, _ buckets: CalendarBuckets, _ whole: [Bool]
  ) throws -> [(index: Int, cell: Cell)] {
    let edges = buckets.edges
    let days = RollupGrain.day(of: buckets.range.lowerBound)...RollupGrain.day(of: buckets.range.upperBound - 1)
    let keys = BlockKey.keys(type: type.id, days: days)
    let table = grain == .hour ? "hours" : "quarters"
    let rows = try Row.fetchCursor(
      db.cachedStatement(sql: "SELECT key, cells FROM \(table) WHERE key BETWEEN ? AND ? ORDER BY key"),
      arguments: [keys.lowerBound, keys.upperBound])
    var found: [(index: Int, cell: Cell)] = []
    var (index, cell) = (0, Cell?.none)
    while let row = try rows.next() {
      let start = BlockKey.day(row[0]) * RollupGrain.day
      try row.withUnsafeData(atIndex: 1) { data in
        try (data ?? .init()).withUnsafeBytes { bytes in
          try RollupBlock.forEach(kind, in: bytes, grain, start: start) { time, next in
            guard time >= edges[index] else { return }
            if time >= edges[index + 1] {
              if let cell { found.append((index, cell)) }
              cell = nil
              while index + 2 < edges.count, time >= edges[index + 1] { index += 1 }
              guard time < edges[index + 1], time >= edges[index] else { return }
            }
            guard whole[index] else { return }
            guard cell == nil else {
              cell?.append(next)
              return
            }
            cell = next
            // Samples from before a cell belong to a bucket only if the cell is its first.
            if time > edges[index] { cell?.forgetBefore() }
          }
        }
      }
    }
    if let cell { found.append((index, cell)) }
    return found
  }
}

extension MergedSum {
  fileprivate init(_ cell: SumCell, _ ranking: RankTable) {
    var covered: [Int: Int64] = [:]
    for share in cell.shares {
      let rank = ranking.rank(of: share.source, isUserEntered: share.source == KeptRanking.manual)
      covered[rank, default: 0] += share.covered
    }
    self.init(sum: cell.value, covered: covered, twins: cell.twins, ranking)
  }
}
