import HealthModel

extension NumberReader {
  /// Calls `body` with the start of each sample of a type, whatever its kind, in order of time. Starts are in
  /// microseconds since 1970.
  ///
  /// - Parameter sources: the names of sources; `nil` for all.
  public func forEachStart(
    _ type: SampleType, in range: Range<Int64>, from sources: Set<String>? = nil, _ body: (Int64) throws -> Void
  ) throws {
    guard let id = try type.id(in: db) else { return }
    var query = try Binding(
      db,
      """
      SELECT start FROM sample WHERE type = ? AND start >= ? AND start < ?\(shown)\(try FilterCondition.from(sources, db))
      ORDER BY start
      """)
    query.bind(id)
    query.bind(range.lowerBound)
    query.bind(range.upperBound)
    try query.rows(db) { row in
      try body(row.integer(0))
      return true
    }
  }
}
