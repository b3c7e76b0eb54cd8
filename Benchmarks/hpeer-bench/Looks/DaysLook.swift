import GRDBSQLite
import OperatingSystem

/// A benchmark of daily statistics over all years for the type with the most samples.
struct DaysLook {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    let home = try await LookedAtHome(bench)
    defer { bench.workspace.remove(home.path) }
    var (kept, bare, program): ([Double], [Double], [Double]) = ([], [], [])
    var (days, rows) = (0, 0)
    for _ in 0..<bench.sizes.shortRepeats {
      kept.append(
        try await milliseconds {
          days = try await home.rollups.statistics(home.days(of: LookedAtHome.heartRate)).values.count
        })
      let store = "\(home.path)/store.sqlite"
      let start = ContinuousClock.now
      rows = try await onThread { _ in try Self.select(LookedAtHome.heartRate.rawValue, store) }
      bare.append(start.duration(to: .now).seconds * 1000)
      program.append(
        try await bench.program.run(
          ["stats", LookedAtHome.name, "--csv"], home: home.path, in: bench.workspace
        ).seconds * 1000)
    }
    var row = Row(.days)
    row.add("samples", Double(rows), .count)
    row.add("days", Double(days), .count)
    row.add("bare SELECT of the rows", medianOf: bare, .milliseconds)
    row.add("days", medianOf: kept, .milliseconds, goal: .atMost(30))
    row.add("days / bare SELECT", median(kept) / median(bare), .ratio)
    row.add("hpeer stats --csv, from process start to exit", medianOf: program, .milliseconds)
    return row
  }

  /// Reads the rows from which statistics are computed, without using them.
  ///
  /// - Returns: The number of rows.
  private static func select(_ type: String, _ path: String) throws -> Int {
    let database = try SQLite(path, readOnly: true)
    let statement = try database.prepare(
      """
      SELECT start, duration, value, unit, source FROM sample
      WHERE type = (SELECT id FROM type WHERE identifier = '\(type)') ORDER BY start
      """)
    defer { sqlite3_finalize(statement) }
    var (count, sum) = (0, 0.0)
    while sqlite3_step(statement) == SQLITE_ROW {
      sum += sqlite3_column_double(statement, 2) + Double(sqlite3_column_int64(statement, 0))
      count += 1
    }
    return sum.isNaN ? 0 : count
  }
}
