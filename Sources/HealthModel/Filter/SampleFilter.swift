/// A selection of samples by type, time and source. The change feed, access rights of paired machines, digests,
/// exports and query strings all use it.
///
/// ```swift
/// let asked = SampleFilter(types: [.workout, .workoutRoute], earliest: Timestamp(iso8601: "2024-01-01"))
/// let scope = SampleFilter(types: [.workout])
/// let both = asked.intersection(scope)
/// print(both.passes(.workout), both.passes(.workoutRoute))  // true false
/// print(both.passes(start: Timestamp(seconds: 0)))          // false: before 2024
/// ```
///
/// A sample and its tombstone agree in type, start and source, so a filter passes both or neither: a filtered reader
/// learns of every deletion of samples they have, and of no others. A tombstone that names no source passes only a
/// filter without sources. ``SampleRedaction`` removes what a passing sample reveals about samples that do not pass.
///
/// Time is compared in whole seconds, by the second in which a sample starts. An export prints nothing finer, so all
/// copies of a sample that arrived by different roads pass together or not at all.
public struct SampleFilter: Hashable, Sendable {
  /// The types that pass: `nil` for all, including future ones, or empty for none.
  public var types: Set<SampleType>?
  /// The earliest start that passes, compared by the second; `nil` for no bound.
  public var earliest: Timestamp?
  /// The exclusive upper bound of the start, compared by the second; `nil` for no bound.
  public var end: Timestamp?
  /// The names of the sources that pass (``Source/name``), regardless of version; `nil` for all, or empty for none.
  public var sources: Set<String>?

  /// Creates a filter, which without arguments passes everything. An `end` at or before `earliest` makes a filter
  /// that passes nothing.
  public init(
    types: Set<SampleType>? = nil, earliest: Timestamp? = nil, end: Timestamp? = nil, sources: Set<String>? = nil
  ) {
    (self.types, self.earliest, self.end, self.sources) = (types, earliest, end, sources)
  }

  /// A filter that passes everything, including unknown types and samples that are added later.
  public static let everything = SampleFilter()

  /// The redaction of samples for a reader who is limited to this filter.
  public var cut: SampleRedaction { SampleRedaction(self) }

  /// Returns whether samples of this type pass, regardless of their start.
  public func passes(_ type: SampleType) -> Bool { types?.contains(type) ?? true }

  /// Returns whether samples with this start pass, regardless of their type.
  public func passes(start: Timestamp) -> Bool {
    let bounds = bounds
    if let earliest = bounds.earliest, start < earliest { return false }
    if let end = bounds.end, start >= end { return false }
    return true
  }

  /// Returns whether samples of the source with this name pass, regardless of their start. `nil` is an unknown
  /// source.
  public func passes(source: String?) -> Bool { sources.map { names in source.map(names.contains) ?? false } ?? true }

  /// Returns whether the sample passes.
  public func passes(_ sample: Sample) -> Bool { passes(sample.reference) && passes(source: sample.source.name) }

  /// Returns whether a sample with this type and start passes, regardless of its source.
  public func passes(_ sample: SampleReference) -> Bool { passes(sample.type) && passes(start: sample.start) }

  /// Returns whether everything that passes `other`, now and later, also passes this filter.
  public func contains(_ other: SampleFilter) -> Bool {
    guard !other.isEmpty, let theirs = other.instants else { return true }
    guard let mine = instants, mine.contains(theirs.lowerBound), mine.contains(theirs.upperBound) else { return false }
    if let sources, other.sources.map(sources.isSuperset) != true { return false }
    guard let types else { return true }
    return other.types.map(types.isSuperset) ?? false
  }

  /// Whether nothing passes.
  public var isEmpty: Bool { types?.isEmpty == true || sources?.isEmpty == true || instants == nil }

  /// Returns the filter that passes samples that pass both filters.
  public func intersection(_ other: SampleFilter) -> SampleFilter {
    func both<Value>(_ mine: Set<Value>?, _ theirs: Set<Value>?) -> Set<Value>? {
      switch (mine, theirs) {
      case (nil, let some), (let some, nil): some
      case (let mine?, let theirs?): mine.intersection(theirs)
      }
    }
    return SampleFilter(
      types: both(types, other.types), earliest: [earliest, other.earliest].compactMap(\.self).max(),
      end: [end, other.end].compactMap(\.self).min(), sources: both(sources, other.sources))
  }

  /// The sorted sources as text for the audit log, or `nil` for all.
  package var sourceList: String? { sources?.sorted().joined(separator: ", ") }

  /// The bounds rounded up to whole seconds, to compare with the start of samples.
  package var bounds: (earliest: Timestamp?, end: Timestamp?) {
    (earliest?.roundedUpToSecond, end?.roundedUpToSecond)
  }

  /// The range of starts for the store's queries, or `nil` for all time, because a range cannot include the last
  /// instant.
  public var range: Range<Timestamp>? {
    let (earliest, end) = bounds
    if earliest == nil, end == nil { return nil }
    let first = earliest ?? Timestamp(microseconds: .min)
    return first..<max(first, end ?? Timestamp(microseconds: .max))
  }

  /// The first and last instant that pass, or `nil` if none does.
  public var instants: ClosedRange<Timestamp>? {
    let (earliest, end) = bounds
    let first = earliest ?? Timestamp(microseconds: .min)
    guard let end else { return first...Timestamp(microseconds: .max) }
    return first < end ? first...Timestamp(microseconds: end.microseconds - 1) : nil
  }
}

/// Encoded as in digest responses and on the control socket:
/// `{"earliest":"2024-01-01T00:00:00Z","types":["HKQuantityTypeIdentifierHeartRate"]}`.
extension SampleFilter: Codable {
  private enum CodingKeys: String, CodingKey { case types, earliest, end, sources }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    types = try container.decodeIfPresent(Set<SampleType>.self, forKey: .types)
    earliest = try container.decodeIfPresent(Timestamp.self, forKey: .earliest)
    end = try container.decodeIfPresent(Timestamp.self, forKey: .end)
    sources = try container.decodeIfPresent(Set<String>.self, forKey: .sources)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(types?.map(\.rawValue).sorted(), forKey: .types)
    try container.encodeIfPresent(earliest, forKey: .earliest)
    try container.encodeIfPresent(end, forKey: .end)
    try container.encodeIfPresent(sources?.sorted(), forKey: .sources)
  }
}
