import GRDB
import HealthModel

/// Reads when samples were and who recorded them, without what they say, within the read of a ``NumberReader``.
public struct SpanReader {
  private let db: Database
  private let shown: String

  init(_ db: Database, shown: String) {
    self.db = db
    self.shown = shown
  }

  /// Where the store stands in this read.
  public func history() throws -> FeedHistory { try FeedHistory(db) }

  /// All types that the store has met, with the numbers by which this read names them.
  public func types() throws -> [(id: Int64, type: SampleType)] {
    let names = TypeNames(db)
    return try Int64.fetchAll(db, sql: "SELECT id FROM type ORDER BY id").map { ($0, try names.name($0)) }
  }

  /// A change, as far as it says which time it is about.
  public struct ChangedSpan: Hashable, Sendable {
    /// As ``SpanReader/types()`` names it.
    public var type: Int64
    /// Microseconds since 1970.
    public var start: Int64
    /// In microseconds; `nil` of what is gone, which may have been as long as any sample.
    public var duration: Int64?
  }

  /// Every sample that was added, deleted, hidden or shown again after a change number, in no order, some of them twice.
  ///
  /// What is said here of a sample is what holds now. Before, its start may have been another within the second before or
  /// after it, and its end any other.
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

  /// The starts of a type's first sample and its last, in microseconds since 1970, hidden ones included. Costs nothing.
  public func starts(of type: Int64) throws -> ClosedRange<Int64>? {
    guard let first = try firstStart(of: type, from: .min) else { return nil }
    var query = try Binding(db, "SELECT start FROM sample WHERE type = ? ORDER BY start DESC LIMIT 1")
    query.bind(type)
    return first...max(first, try query.integer(db) ?? first)
  }

  /// The first start of a type's samples that is no earlier, in microseconds since 1970, hidden ones included.
  public func firstStart(of type: Int64, from start: Int64) throws -> Int64? {
    var query = try Binding(db, "SELECT start FROM sample WHERE type = ? AND start >= ? ORDER BY start LIMIT 1")
    query.bind(type)
    query.bind(start)
    return try query.integer(db)
  }

  /// What one source recorded with one device in a stretch of time.
  public struct Recorded: Hashable, Sendable {
    /// Counted from 1970, each as long as was asked for.
    public var stretch: Int64
    /// As ``SpanReader/source(_:)`` takes it.
    public var source: Int64
    /// As ``SpanReader/device(_:)`` takes it; `nil` where none is told.
    public var device: Int64?
    /// Whether people typed these in (`HKMetadataKeyWasUserEntered`).
    public var isUserEntered: Bool
    public var samples: Int
    /// The starts of the first and of the last, in microseconds since 1970.
    public var starts: ClosedRange<Int64>

    /// The same source, device, way and stretch are told once.
    public init(
      stretch: Int64, source: Int64, device: Int64?, isUserEntered: Bool, samples: Int, starts: ClosedRange<Int64>
    ) {
      (self.stretch, self.source, self.device, self.isUserEntered) = (stretch, source, device, isUserEntered)
      (self.samples, self.starts) = (samples, starts)
    }
  }

  /// Who recorded the shown samples of a type that start in a range of microseconds since 1970.
  ///
  /// - Parameter length: of a stretch, in microseconds.
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

  /// The source of a number that this reader or ``NumericSample/source`` has given.
  public func source(_ id: Int64) throws -> Source {
    var sources = StoredDictionary<Source>.all
    return try sources.value(of: id, db)
  }

  /// The device of a number that this reader or ``NumericSample/device`` has given.
  public func device(_ id: Int64) throws -> Device {
    var devices = StoredDictionary<Device>.devices
    return try devices.value(of: id, db)
  }
}
