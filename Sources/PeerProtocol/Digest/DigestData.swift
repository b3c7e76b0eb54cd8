import HealthModel

/// What a caller asks for: `types`, `source`, `from`, `to` and `deep` in the query of `GET /api/v2/digest`.
public struct DigestSelection: Hashable, Sendable {
  /// Only types and sources; a caller cannot ask for less time than months.
  public var filter: SampleFilter
  /// `nil` for all.
  public var months: ClosedRange<CalendarMonth>?
  /// Whether to digest the contents of the samples as well as their identities.
  public var isDeep: Bool

  /// Reads the query fields of these names as ``QueryField`` does; `nil` stands for an absent one.
  ///
  /// - Throws: ``QueryFieldError``.
  public init(
    types: Substring?, sources: [String] = [], from: Substring?, to: Substring?, deep: Substring?
  ) throws(QueryFieldError) {
    filter = SampleFilter(types: try QueryField.types(types), sources: try QueryField.sources(sources))
    months = try QueryField.months(from: from, to: to)
    isDeep = try QueryField.flag(deep, "deep")
  }
}

/// `GET /api/v2/digest`: a ``RecordDigest``, and what it covers.
public struct DigestData: Codable, Sendable, Hashable {
  /// The version of the specification in `docs/protocol/digest.md` that this build computes.
  public static let currentVersion = 1

  /// Of all samples and tombstones; far more than any machine holds, and far less than a sum of two of them may be.
  private static let maximumCount = 1 << 53

  /// ``currentVersion`` of whoever computed it.
  public var version: Int
  /// The change token up to which the digest holds.
  public var token: String
  /// What passed: what was asked for, within the caller's scope.
  public var filter: SampleFilter
  /// In the order of the identifiers' UTF-8, as in ``RecordDigest/types``.
  public var types: [TypeEntry]

  /// One ``TypeDigest``.
  public struct TypeEntry: Codable, Sendable, Hashable {
    /// HealthKit identifier.
    public var type: String
    /// Ascending.
    public var months: [MonthEntry]
  }

  /// One ``MonthDigest``.
  public struct MonthEntry: Codable, Sendable, Hashable {
    /// `2024-06`.
    public var month: String
    /// See ``MonthDigest/samples``.
    public var samples: SetEntry
    /// See ``MonthDigest/tombstones``.
    public var deleted: SetEntry
    /// 32 hexadecimal digits; `nil` where it was not asked for.
    public var contents: String?
  }

  /// One ``SetDigest``.
  public struct SetEntry: Codable, Sendable, Hashable {
    /// From 0 to 2^53.
    public var count: Int
    /// 32 hexadecimal digits.
    public var sum: String
  }
}

extension DigestData {
  /// - Parameters:
  ///   - token: as ``ChangeTokenSeal`` makes it.
  ///   - filter: what passed into the digest, and no more.
  public init(_ digest: RecordDigest, token: String, filter: SampleFilter) {
    version = Self.currentVersion
    self.token = token
    self.filter = filter
    types = digest.types.map { type in
      TypeEntry(type: type.type.rawValue, months: type.months.map(MonthEntry.init))
    }
  }

  /// The digest that it tells, whoever sent it. Throws where it is not one: types that come twice or months out of
  /// order, counts below 0, sums and months that are not spelled as they must be.
  public func digest() throws(DigestDataError) -> RecordDigest {
    guard version == Self.currentVersion else { throw .otherVersion(version) }
    var digest = RecordDigest()
    var total = 0
    for entry in types {
      let type = SampleType(entry.type)
      if let last = digest.types.last, !SampleType.utf8Order(last.type, type) { throw .malformed("types out of order") }
      var months: [MonthDigest] = []
      for month in try entry.months.map({ month throws(DigestDataError) in try month.digest() }) {
        if let last = months.last, last.month >= month.month { throw .malformed("months out of order") }
        for count in [month.samples.count, month.tombstones.count] {
          guard count <= Self.maximumCount - total else { throw .malformed("counts beyond any measure") }
          total += count
        }
        months.append(month)
      }
      digest.types.append(TypeDigest(type: type, months: months))
    }
    return digest
  }
}

extension DigestData.MonthEntry {
  init(_ digest: MonthDigest) {
    month = digest.month.description
    samples = .init(count: digest.samples.count, sum: digest.samples.hex)
    deleted = .init(count: digest.tombstones.count, sum: digest.tombstones.hex)
    contents = digest.contents.map { SetDigest(sum: $0).hex }
  }

  fileprivate func digest() throws(DigestDataError) -> MonthDigest {
    guard let month = CalendarMonth(month) else { throw .malformed("a month that is none") }
    guard let samples = SetDigest(count: samples.count, hex: samples.sum),
      let tombstones = SetDigest(count: deleted.count, hex: deleted.sum)
    else { throw .malformed("a sum that is none") }
    var digest = MonthDigest(month: month, samples: samples, tombstones: tombstones)
    if let contents {
      guard let sum = SetDigest(count: 0, hex: contents)?.sum else { throw .malformed("a sum that is none") }
      digest.contents = sum
    }
    return digest
  }
}

/// Why an answer is not a digest.
public enum DigestDataError: Error, Hashable, Sendable {
  /// The digest was computed by another version of the specification.
  case otherVersion(Int)
  /// What is wrong, as the end of a sentence that begins with "a digest with".
  case malformed(String)
}

extension DigestDataError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .otherVersion(let version): "its digest is of version \(version), which this hpeer does not know"
    case .malformed(let what): "a digest with \(what)"
    }
  }
}
