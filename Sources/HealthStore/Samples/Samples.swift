import GRDB
import HealthModel

/// The number of samples of one type in a store.
public struct TypeCount: Hashable, Sendable {
  /// The sample type, which may be missing from the catalogue.
  public var type: SampleType
  /// The number of samples. Greater than 0 in the results of ``HealthStore/Samples/typeCounts()``.
  public var samples: Int

  /// Creates a count. `samples` does not include tombstones.
  public init(type: SampleType, samples: Int) {
    self.type = type
    self.samples = samples
  }
}

extension HealthStore {
  /// The shown samples of a store. See `docs/protocol/changes.md` for the hidden ones.
  public struct Samples: Sendable {
    let store: HealthStore
  }

  /// The shown samples of the store. See `docs/protocol/changes.md` for the hidden ones.
  public var samples: Samples { Samples(store: self) }
}

extension HealthStore.Samples {
  /// Returns the number of shown samples of each type that has any, ordered by identifier. The cost depends on the
  /// number of types, because the counts are stored.
  public func typeCounts() async throws(StoreError) -> [TypeCount] {
    try await store.read { db in
      let types = TypeNames(db)
      let shown = "FROM sample WHERE sample.type = type.id\(try Visibility.condition(db))"
      return try Row.fetchAll(
        db,
        sql: """
          SELECT id, IIF(kept > 0, kept, (SELECT COUNT(*) \(shown))) FROM
            (SELECT id, identifier, \(Visibility.shownSamples) AS kept FROM type WHERE EXISTS(SELECT 1 \(shown))) AS type
          ORDER BY identifier
          """
      ).map { TypeCount(type: try types.name($0[0]), samples: $0[1]) }
    }
  }

  /// Returns the number of shown samples that pass `filter`, by type.
  public func typeCounts(_ filter: SampleFilter) async throws(StoreError) -> [TypeCount] {
    guard filter.range != nil || filter.sources != nil else {
      return try await typeCounts().filter { filter.passes($0.type) }
    }
    return try await counted(filter).counts
  }

  /// Returns the number of shown samples that pass `filter`, by type, and the store's position. Always counts them,
  /// so the cost depends on their number.
  public func counted(_ filter: SampleFilter) async throws(StoreError) -> (counts: [TypeCount], anchor: Anchor) {
    try await store.read { db -> (counts: [TypeCount], anchor: Anchor) in
      var condition = try FilterCondition(SampleFilter(types: filter.types, sources: filter.sources), db: db).sql
      // Uses the start alone, as pages do.
      if let range = filter.range {
        condition += " AND start >= \(range.lowerBound.microseconds) AND start < \(range.upperBound.microseconds)"
      }
      func count(_ other: String) throws -> [Int64: Int] {
        let rows = try Row.fetchAll(
          db, sql: "SELECT type, COUNT(*) FROM sample WHERE TRUE\(condition)\(other) GROUP BY type")
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] as Int64, $0[1] as Int) })
      }
      // The few hidden samples are counted separately, because looking up every sample takes longer.
      let hidden = try count(" AND change IN (SELECT sample FROM visibility WHERE isHidden)")
      let types = TypeNames(db)
      let counts = try count("").compactMap { type, samples -> TypeCount? in
        let shown = samples - (hidden[type] ?? 0)
        return shown > 0 ? TypeCount(type: try types.name(type), samples: shown) : nil
      }
      let order = counts.sorted { $0.type.rawValue.utf8.lexicographicallyPrecedes($1.type.rawValue.utf8) }
      return (order, Anchor(change: try Schema.counter(db)))
    }
  }

  /// Returns the names of the sources that samples of the store have or had: the valid values of
  /// ``SampleFilter/sources``.
  public func sourceNames() async throws(StoreError) -> Set<String> {
    try await store.read { db in try String.fetchSet(db, sql: "SELECT json_extract(json, '$.name') FROM source") }
  }

  /// Returns the first and the last start of a type's shown samples.
  ///
  /// - Parameter range: the range of starts to consider; `nil` for all.
  public func extent(
    of type: SampleType, in range: Range<Timestamp>? = nil
  ) async throws(StoreError) -> ClosedRange<Timestamp>? {
    try await store.read { db in
      let shown = "FROM sample WHERE type = ? AND start BETWEEN ? AND ?\(try Visibility.condition(db))"
      guard let id = try type.id(in: db) else { return nil }
      let last = range.map { $0.upperBound.microseconds - ($0.isEmpty ? 0 : 1) } ?? .max
      let arguments: StatementArguments = [id, range?.lowerBound.microseconds ?? .min, last]
      guard
        let first = try Int64.fetchOne(db, sql: "SELECT start \(shown) ORDER BY start LIMIT 1", arguments: arguments),
        let last = try Int64.fetchOne(
          db, sql: "SELECT start \(shown) ORDER BY start DESC LIMIT 1", arguments: arguments)
      else { return nil }
      return Timestamp(microseconds: first)...Timestamp(microseconds: last)
    }
  }

  /// Returns shown samples of one type, newest start first. Skipping `offset` samples reads only the index.
  ///
  /// - Parameter sources: the names of sources; `nil` for all.
  public func page(
    of type: SampleType, in range: Range<Timestamp>? = nil, from sources: Set<String>? = nil, offset: Int = 0,
    limit: Int
  ) async throws(StoreError) -> [Sample] {
    try await store.read { db in
      guard let id = try type.id(in: db) else { return [] }
      let place = Place(type: id, range: range, limit: limit, offset: offset)
      return try StoredSamples.fetch(db, where: place.condition(sources, db)) { place.bind(to: &$0) }
    }
  }

  /// Returns shown samples of one type, newest start first, in the form that is fastest to read and print. A text in
  /// it that cannot be decoded means that the store is damaged: see ``damage(_:)``.
  ///
  /// - Parameter last: the sample after which to continue, if earlier ones have been read. It may have been deleted
  ///   since.
  public func codedPage(
    of type: SampleType, in range: Range<Timestamp>? = nil, from sources: Set<String>? = nil,
    after last: SampleReference? = nil, limit: Int
  ) async throws(StoreError) -> CodedChanges {
    try await store.read { db in
      guard let id = try type.id(in: db) else { return CodedChanges() }
      let place = Place(type: id, range: range, last: last, limit: limit)
      return try StoredSamples.read(db, where: place.condition(sources, db)) { place.bind(to: &$0) }.changes
    }
  }

  /// A section of a type's samples, newest first. Its numbers are bound as parameters, because a connection caches
  /// one statement per text.
  private struct Place {
    var type: Int64
    var range: Range<Timestamp>?
    var last: SampleReference?
    var limit: Int
    var offset = 0

    func condition(_ sources: Set<String>?, _ db: Database) throws -> String {
      let bounds = range == nil ? "" : " AND start >= ? AND start < ?"
      let rest = last == nil ? "" : " AND (start, uuid) < (?, ?)"
      let shown = try FilterCondition.from(sources, db) + Visibility.condition(db)
      return "type = ?\(bounds)\(rest)\(shown) ORDER BY start DESC, uuid DESC LIMIT ? OFFSET ?"
    }

    func bind(to query: inout Binding) {
      query.bind(type)
      if let range {
        query.bind(range.lowerBound.microseconds)
        query.bind(range.upperBound.microseconds)
      }
      if let last {
        query.bind(last.start.microseconds)
        query.bind(last.uuid)
      }
      query.bind(Int64(limit))
      query.bind(Int64(offset))
    }
  }

  /// Returns the sample with this identity, or the sample that replaced it: a restored copy, or a copy that came by a
  /// better road. `nil` if there is none.
  public func sample(_ reference: SampleReference) async throws(StoreError) -> Sample? {
    try await store.read { db in
      guard let found = try DeletedSamples(db).standIn(for: reference) else { return nil }
      return try StoredSamples.fetch(db, where: "change = ?") { $0.bind(found.change) }.first
    }
  }
}
