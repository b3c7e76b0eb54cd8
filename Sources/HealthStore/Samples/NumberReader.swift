import GRDB
import HealthModel

/// A shown sample of a quantity or category type, as far as statistics need it.
public struct NumericSample: Hashable, Sendable {
  /// Microseconds since 1970.
  public var start: Int64
  /// Microseconds since 1970; no earlier than ``start``.
  public var end: Int64
  /// May be infinite or NaN.
  public var value: Double
  /// The index of its unit in ``NumberReader/units``; `nil` of a category.
  public var unit: Int?
  /// As ``NumberReader/sources(of:)`` names it.
  public var source: Int64
  /// As ``SpanReader/device(_:)`` takes it; `nil` where none is told.
  public var device: Int64?
  /// Whether somebody typed it in (`HKMetadataKeyWasUserEntered`).
  public var isUserEntered: Bool

  /// An instant where the end is the start.
  public init(
    start: Int64, end: Int64, value: Double, unit: Int? = nil, source: Int64 = 0, device: Int64? = nil,
    isUserEntered: Bool = false
  ) {
    self.start = start
    self.end = end
    self.value = value
    self.unit = unit
    self.source = source
    self.device = device
    self.isUserEntered = isUserEntered
  }
}

/// Reads the numbers of samples without the rest, within one read of the store.
public final class NumberReader {
  let db: Database
  let shown: String
  private let numericKinds: Set<Int64>
  private var unitNames = StoredDictionary.units

  init(_ db: Database) throws {
    self.db = db
    shown = try Visibility.condition(db)
    numericKinds = try Int64.fetchSet(db, sql: "SELECT id FROM kind WHERE name IN ('quantity', 'category')")
  }

  /// Of the same state of the store.
  public var spans: SpanReader { SpanReader(db, shown: shown) }

  /// The units of the samples that were read so far.
  public var units: [String] { unitNames.values }

  /// The sources of a type's samples, each with the start of its first, in microseconds since 1970.
  public func sources(of type: SampleType) throws -> [(id: Int64, source: Source, first: Int64)] {
    guard let id = try type.id(in: db) else { return [] }
    var query = try Binding(db, "SELECT source, MIN(start) FROM sample WHERE type = ?\(shown) GROUP BY source")
    query.bind(id)
    var rows: [(Int64, Int64)] = []
    try query.rows(db) { row in
      rows.append((row.integer(0), row.integer(1)))
      return true
    }
    var sources = StoredDictionary<Source>.all
    return try rows.map { (id: $0.0, source: try sources.value(of: $0.0, db), first: $0.1) }
  }

  /// What one source has recorded.
  public struct SourceCount: Hashable, Sendable {
    /// As ``sources(of:)`` names it.
    public var id: Int64
    public var source: Source
    /// Whether these are what somebody typed in.
    public var isUserEntered: Bool
    public var samples: Int
    /// The start of the first, and of the last, in microseconds since 1970.
    public var starts: ClosedRange<Int64>

    /// No two counts are of the same source and way.
    public init(id: Int64, source: Source, isUserEntered: Bool, samples: Int, starts: ClosedRange<Int64>) {
      (self.id, self.source, self.isUserEntered) = (id, source, isUserEntered)
      (self.samples, self.starts) = (samples, starts)
    }
  }

  /// What each source has recorded of a type, or of all that has a time. Reads the whole table, or the type's part of it.
  public func sourceCounts(of type: SampleType?) throws -> [SourceCount] {
    // What is true of the person, such as a date of birth, was never recorded, and lies at 1970.
    var condition = "kind IS NOT (SELECT id FROM kind WHERE name = 'characteristic')"
    if let type {
      guard let id = try type.id(in: db) else { return [] }
      condition = "type = \(id)"
    }
    var rows: [(id: Int64, isUserEntered: Bool, samples: Int, starts: ClosedRange<Int64>)] = []
    try Binding(
      db,
      """
      SELECT source, \(Self.isUserEntered) AS typed, COUNT(*), MIN(start), MAX(start)
      FROM sample WHERE \(condition)\(shown) GROUP BY source, typed
      """
    ).rows(db) { row in
      let first = row.integer(3)
      rows.append((row.integer(0), row.integer(1) != 0, Int(row.integer(2)), first...max(first, row.integer(4))))
      return true
    }
    var sources = StoredDictionary<Source>.all
    return try rows.map {
      SourceCount(
        id: $0.id, source: try sources.value(of: $0.id, db), isUserEntered: $0.isUserEntered, samples: $0.samples,
        starts: $0.starts)
    }
  }

  /// In SQL, of a row of `sample`. Most metadata are about something else, and need not be parsed to see that.
  static let isUserEntered = """
    IFNULL(instr(metadata, '"HKWasUserEntered"') > 0
      AND json_extract(metadata, '$.HKWasUserEntered') IN (1, '1', 'true'), 0)
    """

  /// How many shown samples of some sources, of all types, were measured by which device. Reads the whole table.
  public func devices(ofSources ids: [Int64]) throws -> [Int64: [Device?: Int]] {
    var devices = StoredDictionary<Device>.devices
    var rows: [(source: Int64, device: Int64?, count: Int64)] = []
    let list = ids.map(String.init).joined(separator: ",")
    try Binding(
      db, "SELECT source, device, COUNT(*) FROM sample WHERE source IN (\(list))\(shown) GROUP BY source, device"
    )
    .rows(db) { row in
      rows.append((row.integer(0), row.optionalInteger(1), row.integer(2)))
      return true
    }
    var result: [Int64: [Device?: Int]] = [:]
    for row in rows {
      let device = try row.device.map { try devices.value(of: $0, db) }
      result[row.source, default: [:]][device, default: 0] += Int(row.count)
    }
    return result
  }

  /// From the first start to the last end of a type's samples, in microseconds since 1970.
  ///
  /// - Parameters:
  ///   - range: of the starts of those that count; `nil` for any.
  ///   - sources: the names of sources; `nil` for all.
  public func extent(
    of type: SampleType, startingIn range: Range<Timestamp>? = nil, from sources: Set<String>? = nil
  ) throws -> ClosedRange<Int64>? {
    guard let id = try type.id(in: db) else { return nil }
    var query = try Binding(
      db,
      """
      SELECT MIN(start), MAX(start + MAX(duration, 0)) FROM sample
      WHERE type = ?\(range == nil ? "" : " AND start >= ? AND start < ?")\(shown)\(try FilterCondition.from(sources, db))
      """)
    query.bind(id)
    if let range {
      query.bind(range.lowerBound.microseconds)
      query.bind(range.upperBound.microseconds)
    }
    var extent: ClosedRange<Int64>?
    try query.rows(db) { row in
      if let first = row.optionalInteger(0), let last = row.optionalInteger(1) { extent = first...max(first, last) }
      return false
    }
    return extent
  }

  /// Whether any of a type's samples starts in a range.
  ///
  /// - Parameter sources: the names of sources; `nil` for all.
  public func hasAny(
    of type: SampleType, startingIn range: Range<Timestamp>, from sources: Set<String>? = nil
  ) throws -> Bool {
    guard let id = try type.id(in: db) else { return false }
    var query = try Binding(
      db,
      """
      SELECT 1 FROM sample WHERE type = ? AND start >= ? AND start < ?\(shown)\(try FilterCondition.from(sources, db)) LIMIT 1
      """)
    query.bind(id)
    query.bind(range.lowerBound.microseconds)
    query.bind(range.upperBound.microseconds)
    return try query.integer(db) != nil
  }

  /// The start of the newest of a type's samples that start before an instant.
  public func newestStart(of type: SampleType, before end: Timestamp) throws -> Timestamp? {
    guard let id = try type.id(in: db) else { return nil }
    var query = try Binding(
      db, "SELECT start FROM sample WHERE type = ? AND start < ?\(shown) ORDER BY start DESC LIMIT 1")
    query.bind(id)
    query.bind(end.microseconds)
    return try query.integer(db).map(Timestamp.init(microseconds:))
  }

  /// The types that the store has ever had samples of, in any order.
  public func knownTypes() throws -> [SampleType] {
    try String.fetchAll(db, sql: "SELECT identifier FROM type").map(SampleType.init(rawValue:))
  }

  /// How many of a type's samples start outside of a range.
  ///
  /// - Parameter sources: the names of sources; `nil` for all.
  public func count(
    of type: SampleType, outside range: Range<Timestamp>, from sources: Set<String>? = nil
  ) throws -> Int {
    guard let id = try type.id(in: db) else { return 0 }
    let (first, end) = (range.lowerBound.microseconds, range.upperBound.microseconds)
    let condition = try shown + FilterCondition.from(sources, db)
    var count: Int64 = 0
    for starts in [first == .min ? nil : Int64.min...(first - 1), end == .max ? nil : end...Int64.max] {
      guard let starts else { continue }
      var query = try Binding(
        db, "SELECT COUNT(*) FROM sample WHERE type = ? AND start BETWEEN ? AND ?\(condition)")
      query.bind(id)
      query.bind(starts)
      count += try query.integer(db) ?? 0
    }
    return Int(count)
  }

  /// Hands over a type's samples with numbers, those that start first before others; of each start in any order.
  ///
  /// - Parameters:
  ///   - range: in microseconds since 1970; what only begins or ends at its edge is left out.
  ///   - sources: the names of sources; `nil` for all.
  ///   - withEarlier: hands over those that start before the range, too, of which one that overlaps it may be the first.
  ///   - longest: in microseconds; no sample of the type that starts before the range is longer. Without it, all that do are
  ///     looked at.
  ///   - other: is handed those that have no number at all.
  public func forEach(
    _ type: SampleType, overlapping range: Range<Int64>, from sources: Set<String>? = nil,
    withEarlier: Bool = false, noLongerThan longest: Int64? = nil, other: ((NumericSample) throws -> Void)? = nil,
    _ body: (NumericSample) throws -> Void
  ) throws {
    guard let id = try type.id(in: db) else { return }
    // What has no length is in the second that it begins.
    var query = try Binding(
      db,
      """
      SELECT start, duration, value, unit, source, device, kind, \(Self.isUserEntered)
      FROM sample
      WHERE type = ? AND start >= ? AND start < ? AND (? OR start >= ? OR start + duration > ?)
        \(shown)\(try FilterCondition.from(sources, db))
      ORDER BY start
      """)
    let (earliest, isTooEarly) = range.lowerBound.subtractingReportingOverflow(longest ?? .max)
    query.bind(id)
    query.bind(longest == nil || isTooEarly ? Int64.min : earliest)
    query.bind(range.upperBound)
    query.bind(Int64(withEarlier ? 1 : 0))
    query.bind(range.lowerBound)
    query.bind(range.lowerBound)
    try query.rows(db) { row in
      let isNumeric = numericKinds.contains(row.integer(6))
      if !isNumeric, other == nil { return true }
      let start = row.integer(0)
      let (end, isTooFar) = start.addingReportingOverflow(max(row.integer(1), 0))
      let sample = NumericSample(
        start: start, end: isTooFar ? .max : end, value: row.optionalDouble(2) ?? .nan,
        unit: try row.optionalInteger(3).map { Int(try unitNames.index(of: $0, db)) }, source: row.integer(4),
        device: row.optionalInteger(5), isUserEntered: row.integer(7) != 0)
      try isNumeric ? body(sample) : other?(sample)
      return true
    }
  }

  /// A number that an app has sent of a time, or several in one object.
  public struct Reading: Hashable, Sendable {
    /// Microseconds since 1970.
    public var start: Int64
    /// Microseconds since 1970; no earlier than ``start``.
    public var end: Int64
    /// `nil` where ``content`` says it.
    public var value: Double?
    /// The unit of ``value``, as the app says it; empty where it says none.
    public var unit: String
    /// A JSON object; `nil` of a quantity.
    public var content: String?
    /// A JSON object; `nil` where it has none.
    public var metadata: String?
    /// The name of its source.
    public var source: String
  }

  /// Hands over a type's readings, those that start first before others.
  ///
  /// - Parameters:
  ///   - range: in microseconds since 1970; what only begins or ends at its edge is left out, but for an instant at its beginning.
  ///   - sources: the names of sources; `nil` for all.
  ///   - longest: in microseconds; longer ones that start before the range are left out.
  public func forEachReading(
    _ type: SampleType, overlapping range: Range<Int64>, from sources: Set<String>? = nil, noLongerThan longest: Int64,
    _ body: (Reading) throws -> Void
  ) throws {
    guard let id = try type.id(in: db) else { return }
    var query = try Binding(
      db,
      """
      SELECT start, duration, value, unit, source, payload, metadata FROM sample
      WHERE type = ? AND start >= ? AND start < ? AND (start >= ? OR start + duration > ?)
        \(shown)\(try FilterCondition.from(sources, db))
      ORDER BY start
      """)
    let (earliest, isTooEarly) = range.lowerBound.subtractingReportingOverflow(longest)
    query.bind(id)
    query.bind(isTooEarly ? Int64.min : earliest)
    query.bind(range.upperBound)
    query.bind(range.lowerBound)
    query.bind(range.lowerBound)
    var names = StoredDictionary<Source>.all
    try query.rows(db) { row in
      let start = row.integer(0)
      let (end, isTooFar) = start.addingReportingOverflow(max(row.integer(1), 0))
      let unit = try row.optionalInteger(3).map { try unitNames.value(of: $0, db) }
      try body(
        Reading(
          start: start, end: isTooFar ? .max : end, value: row.optionalDouble(2), unit: unit ?? "",
          content: row.text(5), metadata: row.text(6), source: try names.value(of: row.integer(4), db).name))
      return true
    }
  }
}

extension HealthStore.Samples {
  /// Reads numbers, of one state of the store. Cancelled, it ends early with ``StoreError/cancelled``.
  public func numbers<Result: Sendable>(
    _ body: @escaping @Sendable (NumberReader) throws -> Result
  ) async throws(StoreError) -> Result {
    try await store.read { db in try body(try NumberReader(db)) }
  }
}
