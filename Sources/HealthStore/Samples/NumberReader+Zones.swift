import GRDB

extension NumberReader {
  /// Calls `body` with the time zone that each sample of any type was recorded in (`HKMetadataKeyTimeZone`), in order
  /// of start. Reads the whole table.
  ///
  /// - Parameters:
  ///   - range: the range of starts, in microseconds since 1970.
  ///   - body: receives a start, in microseconds since 1970, and the zone exactly as in the sample.
  public func forEachZone(_ range: Range<Int64>, _ body: (_ start: Int64, _ zone: String) throws -> Void) throws {
    var query = try Binding(
      db,
      """
      SELECT start, json_extract(metadata, '$.HKTimeZone') AS zone FROM sample
      WHERE instr(metadata, '"HKTimeZone"') > 0 AND start >= ? AND start < ? AND typeof(zone) = 'text'\(shown)
      ORDER BY start, change
      """)
    query.bind(range.lowerBound)
    query.bind(range.upperBound)
    try query.rows(db) { row in
      if let zone = row.text(1) { try body(row.integer(0), zone) }
      return true
    }
  }
}
