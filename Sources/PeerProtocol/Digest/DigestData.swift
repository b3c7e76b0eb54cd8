import HealthModel

/// The selection in the query of `GET /api/v2/digest`: `types`, `source`, `from`, `to` and `deep`.
public struct DigestSelection: Hashable, Sendable {
  /// The requested types and sources. The time range is in ``months`` because a digest has whole months.
  public var filter: SampleFilter
  /// The requested months, or `nil` for all.
  public var months: ClosedRange<CalendarMonth>?
  /// Whether to digest the contents of the samples as well as their identities.
  public var isDeep: Bool

  /// Parses the query fields with ``QueryField``; `nil` stands for an absent field.
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

/// The content of `GET /api/v2/digest`: a ``RecordDigest`` and what it covers.
public struct DigestData: Codable, Sendable, Hashable {
  /// The version of the specification in `docs/protocol/digest.md` that this build computes.
  public static let currentVersion = 1

  /// The maximum total of samples and tombstones: far above any real record, and far below half of `Int.max`.
  private static let maximumCount = 1 << 53

  /// The version of the specification that the sender computed; see ``currentVersion``.
  public var version: Int
  /// The change token up to which the digest holds.
  public var token: String
  /// The filter that was applied: the request's, restricted to the caller's scope.
  public var filter: SampleFilter
  /// The types, ordered by the UTF-8 of their identifiers as in ``RecordDigest/types``.
  public var types: [TypeEntry]

  /// A ``TypeDigest`` as JSON.
  public struct TypeEntry: Codable, Sendable, Hashable {
    /// The HealthKit identifier.
    public var type: String
    /// The months in ascending order.
    public var months: [MonthEntry]
  }

  /// A ``MonthDigest`` as JSON.
  public struct MonthEntry: Codable, Sendable, Hashable {
    /// The month, such as `2024-06`.
    public var month: String
    /// The digest of the samples; see ``MonthDigest/samples``.
    public var samples: SetEntry
    /// The digest of the deletions; see ``MonthDigest/tombstones``.
    public var deleted: SetEntry
    /// The digest of the samples' contents as 32 hexadecimal digits, or `nil` if it was not requested.
    public var contents: String?
  }

  /// A ``SetDigest`` as JSON.
  public struct SetEntry: Codable, Sendable, Hashable {
    /// The number of members, from 0 to 2^53.
    public var count: Int
    /// The sum as 32 hexadecimal digits.
    public var sum: String
  }
}

extension DigestData {
  /// - Parameters:
  ///   - token: a token made by ``ChangeTokenSeal``.
  ///   - filter: the filter that was applied to the digest.
  public init(_ digest: RecordDigest, token: String, filter: SampleFilter) {
    version = Self.currentVersion
    self.token = token
    self.filter = filter
    types = digest.types.map { type in
      TypeEntry(type: type.type.rawValue, months: type.months.map(MonthEntry.init))
    }
  }

  /// Returns the digest after validating it, because any machine may have sent it.
  ///
  /// - Throws: ``DigestDataError`` if types or months repeat or are out of order, a count is negative or too large,
  ///   or a sum or month is misspelled.
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

/// A reason why an answer is not a valid digest.
public enum DigestDataError: Error, Hashable, Sendable {
  /// The digest was computed by another version of the specification.
  case otherVersion(Int)
  /// The digest is invalid. The value completes the phrase "a digest with …".
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
