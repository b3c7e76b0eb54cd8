import GRDB
import HealthModel

/// A shown sample of a quantity or category type, with the fields that statistics need.
public struct NumericSample: Hashable, Sendable {
  /// The start in microseconds since 1970.
  public var start: Int64
  /// The end in microseconds since 1970, no earlier than ``start``.
  public var end: Int64
  /// The value. May be infinite or NaN.
  public var value: Double
  /// The index of the unit in ``NumberReader/units``, or `nil` for a category.
  public var unit: Int?
  /// The identifier of the source in ``NumberReader/sources(of:)``.
  public var source: Int64
  /// The identifier of the device for ``SpanReader/device(_:)``, or `nil` if none is recorded.
  public var device: Int64?
  /// Whether the user entered the value by hand (`HKMetadataKeyWasUserEntered`).
  public var isUserEntered: Bool

  /// Creates a sample. It is an instant if `end` equals `start`.
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

/// A reader of the numbers of samples, without their other fields, within one read transaction of the store.
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

  /// A reader of the spans of samples in the same state of the store.
  public var spans: SpanReader { SpanReader(db, shown: shown) }

  /// The units of the samples that were read so far.
  public var units: [String] { unitNames.values }

  /// Returns the sources of a type's samples, each with the start of its first sample in microseconds since 1970.
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

  /// The number of samples of one source, entered by hand or measured.
  public struct SourceCount: Hashable, Sendable {
    /// The identifier of the source in ``sources(of:)``.
    public var id: Int64
    public var source: Source
    /// Whether the user entered these samples by hand.
    public var isUserEntered: Bool
    public var samples: Int
    /// The first and the last start, in microseconds since 1970.
    public var starts: ClosedRange<Int64>

    /// Creates a count. No two counts have the same source and the same `isUserEntered`.
    public init(id: Int64, source: Source, isUserEntered: Bool, samples: Int, starts: ClosedRange<Int64>) {
      (self.id, self.source, self.isUserEntered) = (id, source, isUserEntered)
      (self.samples, self.starts) = (samples, starts)
    }
  }

  /// Returns the number of samples of each source, for one type or for all types that have a time. Reads the whole
  /// table, or the type's part of it.
  public func sourceCounts(of type: SampleType?) throws -> [SourceCount] {
    // Characteristics such as a date of birth have no time of recording, and are stored at 1970.
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

  /// An SQL expression for a row of `sample`: whether the user entered it by hand. Most metadata do not contain the
  /// key, and are not parsed.
  static let isUserEntered = """
    IFNULL(instr(metadata, '"HKWasUserEntered"') > 0
      AND json_extract(metadata, '$.HKWasUserEntered') IN (1, '1', 'true'), 0)
    """

  /// Returns the number of shown samples of all types by source and device, for some sources. Reads the whole table.
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

  /// Returns the range from the first start to the last end of a type's samples, in microseconds since 1970.
  ///
  /// - Parameters:
  ///   - range: the range of the starts of samples to consider; `nil` for any.
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

  /// Returns whether any sample of a type starts in a range.
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

  /// Returns the start of the newest sample of a type that starts before an instant.
  public func newestStart(of type: SampleType, before end: Timestamp) throws -> Timestamp? {
    guard let id = try type.id(in: db) else { return nil }
    var query = try Binding(
      db, "SELECT start FROM sample WHERE type = ? AND start < ?\(shown) ORDER BY start DESC LIMIT 1")
    query.bind(id)
    query.bind(end.microseconds)
    return try query.integer(db).map(Timestamp.init(microseconds:))
  }

  /// Returns the types that the store has ever had samples of, in any order.
  public func knownTypes() throws -> [SampleType] {
    try String.fetchAll(db, sql: "SELECT identifier FROM type").map(SampleType.init(rawValue:))
  }

  /// Returns the number of a type's samples that start outside of a range.
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

  /// Calls `body` with each numeric sample of a type, in order of start.
  ///
  /// - Parameters:
  ///   - range: in microseconds since 1970. Samples that only touch its edge are left out.
  ///   - sources: the names of sources; `nil` for all.
  ///   - withEarlier: whether to include samples that start before the range. The first of them may be one that
  ///     overlaps the range.
  ///   - longest: the maximum length in microseconds of the type's samples that start before the range. Without it,
  ///     all samples that start before the range are examined.
  ///   - other: receives the samples that have no number.
  public func forEach(
    _ type: SampleType, overlapping range: Range<Int64>, from sources: Set<String>? = nil,
    withEarlier: Bool = false, noLongerThan longest: Int64? = nil, other: ((NumericSample) throws -> Void)? = nil,
    _ body: (NumericSample) throws -> Void
  ) throws {
    guard let id = try type.id(in: db) else { return }
    // A sample without length belongs to the second in which it begins.
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

  /// A number that an app reported for a period, or several numbers in one object.
  public struct Reading: Hashable, Sendable {
    /// The start in microseconds since 1970.
    public var start: Int64
    /// The end in microseconds since 1970, no earlier than ``start``.
    public var end: Int64
    /// The number, or `nil` if ``content`` has the values.
    public var value: Double?
    /// The unit of ``value`` as the app names it. Empty if it names none.
    public var unit: String
    /// The values as a JSON object, or `nil` for a quantity.
    public var content: String?
    /// The metadata as a JSON object, or `nil` if there are none.
    public var metadata: String?
    /// The name of the source.
    public var source: String
  }

  /// Calls `body` with each reading of a type, in order of start.
  ///
  /// - Parameters:
  ///   - range: in microseconds since 1970. Readings that only touch its edge are left out, except for an instant at
  ///     its beginning.
  ///   - sources: the names of sources; `nil` for all.
  ///   - longest: the maximum length in microseconds of readings that start before the range. Longer ones are left
  ///     out.
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
  /// Calls `body` with a reader of the numbers of samples, in one state of the store. If the task is cancelled, ends
  /// early with ``StoreError/cancelled``.
  public func numbers<Result: Sendable>(
    _ body: @escaping @Sendable (NumberReader) throws -> Result
  ) async throws(StoreError) -> Result {
    try await store.read { db in try body(try NumberReader(db)) }
  }
}
