import GRDB
import HealthModel

/// A ``SampleFilter`` in SQL, for rows of `sample` and `tombstone`. The text is empty, or begins with AND to follow
/// another condition.
struct FilterCondition {
  private(set) var sql = ""

  init(_ filter: SampleFilter, db: Database) throws {
    if let types = filter.types {
      let ids = try types.compactMap { try $0.id(in: db) }
      sql += " AND type IN (\(ids.map(String.init).joined(separator: ",")))"
    }
    sql += try Self.timeAndSources(filter, db)
  }

  /// Creates a condition for rows that match any of some filters, and none of others.
  ///
  /// - Parameter start: the change number before the first that matches.
  init(anyOf some: [SampleFilter], butNot others: [SampleFilter] = [], after start: Int64 = 0, db: Database) throws {
    func condition(_ filter: SampleFilter) throws -> String { "(1\(try FilterCondition(filter, db: db).sql))" }
    if start > 0 { sql += " AND change > \(start)" }
    sql += " AND (\(try (["0"] + some.map(condition)).joined(separator: " OR ")))"
    for filter in others { sql += " AND NOT \(try condition(filter))" }
  }

  /// Returns the condition on time and sources, or an empty text if the filter restricts neither.
  static func timeAndSources(_ filter: SampleFilter, _ db: Database) throws -> String {
    let bounds = filter.bounds
    let first = bounds.earliest.map { " AND start >= \($0.microseconds)" } ?? ""
    return first + (bounds.end.map { " AND start < \($0.microseconds)" } ?? "") + (try from(filter.sources, db))
  }

  /// Returns the condition on the names of sources, or an empty text for `nil`.
  static func from(_ sources: Set<String>?, _ db: Database) throws -> String {
    guard let sources else { return "" }
    var ids: [Int64] = []
    for name in sources.sorted() {
      ids += try Int64.fetchAll(
        db, sql: "SELECT id FROM source WHERE json_extract(json, '$.name') = ?", arguments: [name])
    }
    return " AND source IN (\(ids.map(String.init).joined(separator: ",")))"
  }
}
