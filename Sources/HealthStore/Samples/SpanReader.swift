import GRDB
import HealthModel

/// A reader of the times, sources and devices of samples, without their values, within the read of a
/// ``NumberReader``.
public struct SpanReader {
  private let db: Database
  private let shown: String

  init(_ db: Database, shown: String) {
    self.db = db
    self.shown = shown
  }

  /// Returns the history of the store as of this read.
  public func history() throws -> FeedHistory { try FeedHistory(db) }

  /// Returns all types that the store knows, with their identifiers in this read.
  public func types() throws -> [(id: Int64, type: SampleType)] {
    let names = TypeNames(db)
    return try Int64.fetchAll(db, sql: "SELECT id FROM type ORDER BY id").map { ($0, try names.name($0)) }
  }

  /// The type and time of a changed sample.
  public struct ChangedSpan: Hashable, Sendable {
    /// The identifier of the type in ``SpanReader/types()``.
    public var type: Int64
    /// The start in microseconds since 1970.
    public var start: Int64
    /// The duration in microseconds, or `nil` for a deleted sample, whose duration may be any.
    public var duration: Int64?
  }

  /// Calls `body` with every sample that was added, deleted, hidden or shown again after a change number, in no order
  /// and some of them twice.
  ///
  /// The times are the current ones. Before the change, the start may have differed by up to a second, and the end by
  /// any amount.
  public func forEachChange(after number: Int64, _ body: (ChangedSpan) throws -> Void) throws {
    var query = try Binding(
      db,
      """
      SELECT type, start, duration FROM sample NOT INDEXED WHERE change > ?
      UNION ALL SELECT type, start, NULL FROM tombstone NOT INDEXED WHERE change > ?
      UNION ALL SELECT sample.type, start, duration FROM visibility CROSS JOIN sample ON sample.change = visibility.sample
        WHERE number > ?
      """)
    for _ in 0..<3 { query.bind(number) }
    try query.rows(db) { row in
      try body(ChangedSpan(type: row.integer(0), start: row.integer(1), duration: row.optionalInteger(2)))
      return true
    }
  }

  /// Returns the first and the last start of a type's samples, hidden ones included, in microseconds since 1970. Uses
  /// only the index.
  public func starts(of type: Int64) throws -> ClosedRange<Int64>? {
    guard let first = try firstStart(of: type, from: .min) else { return nil }
    var query = try Binding(db, "SELECT start FROM sample WHERE type = ? ORDER BY start DESC LIMIT 1")
    query.bind(type)
    return first...max(first, try query.integer(db) ?? first)
  }

  /// Returns the first start of a type's samples at or after `start`, hidden ones included, in microseconds since
  /// 1970.
  public func firstStart(of type: Int64, from start: Int64) throws -> Int64? {
    var query = try Binding(db, "SELECT start FROM sample WHERE type = ? AND start >= ? ORDER BY start LIMIT 1")
    query.bind(type)
    query.bind(start)
    return try query.integer(db)
  }

  /// The samples that one source recorded with one device in an interval.
  public struct Recorded: Hashable, Sendable {
    /// The index of the interval, counted from 1970 in intervals of the requested length.
    public var stretch: Int64
    /// The identifier of the source for ``SpanReader/source(_:)``.
    public var source: Int64
    /// The identifier of the device for ``SpanReader/device(_:)``, or `nil` if none is recorded.
    public var device: Int64?
    /// Whether the user entered these samples by hand (`HKMetadataKeyWasUserEntered`).
    public var isUserEntered: Bool
    public var samples: Int
    /// The first and the last start, in microseconds since 1970.
    public var starts: ClosedRange<Int64>

    /// Creates a record. Each combination of interval, source, device and `isUserEntered` occurs once.
    public init(
      stretch: Int64, source: Int64, device: Int64?, isUserEntered: Bool, samples: Int, starts: ClosedRange<Int64>
    ) {
      (self.stretch, self.source, self.device, self.isUserEntered) = (stretch, source, device, isUserEntered)
      (self.samples, self.starts) = (samples, starts)
    }
  }

  /// Returns the number of shown samples of a type by source and device, for starts in a range of microseconds since
  /// 1970.
  ///
  /// - Parameter length: the length of an interval, in microseconds.
  public func recorded(_ type: Int64, startingIn range: Range<Int64>, every length: Int64) throws -> [Recorded] {
    var query = try Binding(
      db,
      """
      SELECT (start - (start % \(length) + \(length)) % \(length)) / \(length) AS stretch, source, device,
        \(NumberReader.isUserEntered) AS typed, COUNT(*), MIN(start), MAX(start)
      FROM sample WHERE type = ? AND start >= ? AND start < ?\(shown) GROUP BY stretch, source, device, typed
      """)
    query.bind(type)
    query.bind(range.lowerBound)
    query.bind(range.upperBound)
    var result: [Recorded] = []
    try query.rows(db) { row in
      result.append(
        Recorded(
          stretch: row.integer(0), source: row.integer(1), device: row.optionalInteger(2),
          isUserEntered: row.integer(3) != 0, samples: Int(row.integer(4)),
          starts: row.integer(5)...max(row.integer(5), row.integer(6))))
      return true
    }
    return result
  }

  /// Returns the source for an identifier from this reader or ``NumericSample/source``.
  public func source(_ id: Int64) throws -> Source {
    var sources = StoredDictionary<Source>.all
    return try sources.value(of: id, db)
  }

  /// Returns the device for an identifier from this reader or ``NumericSample/device``.
  public func device(_ id: Int64) throws -> Device {
    var devices = StoredDictionary<Device>.devices
    return try devices.value(of: id, db)
  }
}
