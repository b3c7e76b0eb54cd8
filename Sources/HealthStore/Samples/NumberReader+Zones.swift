import GRDB

extension NumberReader {
  /// Hands over the zones that samples of all types say they were recorded in (`HKMetadataKeyTimeZone`), those that start first
  /// before others. Reads the whole table.
  ///
  /// - Parameters:
  ///   - range: of their starts, in microseconds since 1970.
  ///   - body: is given a start, in microseconds since 1970, and a zone as the sample says it, whatever that is.
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
