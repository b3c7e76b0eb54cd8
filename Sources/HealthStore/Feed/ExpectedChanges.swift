import GRDB
import HealthModel

extension HealthStore.Feed {
  /// Returns the maximum number of changes after `anchor`, for progress bars. With a filter the number is exact,
  /// because a bound from the whole store would reveal how much the reader may not see.
  public func expectedChanges(since anchor: Anchor, filter: SampleFilter) async throws(StoreError) -> Int {
    try await store.read { db in
      let counter = try Schema.counter(db)
      let start = max(0, anchor.change)
      guard start < counter else { return 0 }
      let newer = Int(counter - start)
      guard filter != .everything else {
        let (samples, tombstones) = (try db.sum("SELECT samples FROM type"), try db.count("tombstone"))
        return min(newer, samples + tombstones)
      }
      let types = try filter.types.map { try $0.compactMap { try $0.id(in: db) } }
      let ids = try types ?? Int64.fetchAll(db, sql: "SELECT id FROM type")
      let rest = try FilterCondition.timeAndSources(filter, db)
      let held = try db.sum("SELECT samples FROM type WHERE id IN (\(list(ids)))")

      func counted(_ table: String) throws -> Int {
        // Both queries have the same result: along the new changes, or along those of each type. The shorter one
        // runs.
        if newer < held {
          return try db.count(
            "\(table) NOT INDEXED WHERE change > \(start) AND type IN (\(list(ids)))\(rest)")
        }
        return try ids.reduce(0) {
          try $0
            + db.count("\(table) INDEXED BY \(table)_identity WHERE type = \($1)\(rest) AND change > \(start)")
        }
      }
      let samples = start == 0 && rest.isEmpty ? held : try counted("sample")
      return try samples + counted("tombstone")
    }
  }
}

private func list(_ ids: [Int64]) -> String {
  ids.map(String.init).joined(separator: ",")
}

extension Database {
  fileprivate func count(_ source: String) throws -> Int {
    try Int.fetchOne(self, sql: "SELECT COUNT(*) FROM \(source)") ?? 0
  }

  fileprivate func sum(_ column: String) throws -> Int {
    try Int.fetchAll(self, sql: column).reduce(0, +)
  }
}
