/// Which samples of a record are meant, by type, time and source: the one selection of the change feed, of what a paired machine
/// may read, of digests, exports and query strings.
///
/// ```swift
/// let asked = SampleFilter(types: [.workout, .workoutRoute], earliest: Timestamp(iso8601: "2024-01-01"))
/// let scope = SampleFilter(types: [.workout])
/// let both = asked.intersection(scope)
/// print(both.passes(.workout), both.passes(.workoutRoute))  // true false
/// print(both.passes(start: Timestamp(seconds: 0)))          // false: before 2024
/// ```
///
/// A sample and its tombstone agree in type, start and source, so that a filter lets both through or neither: who reads
/// under it learns of every deletion of what they have, and of no other. A tombstone that names no source passes only a
/// filter without sources. What a sample that passes says of samples that do not is for ``SampleCut`` to leave out.
///
/// Time is compared in whole seconds: of a sample, the second in which it starts counts. An export prints nothing finer, so
/// that the copies of one thing that came by several roads pass together or not at all.
public struct SampleFilter: Hashable, Sendable {
  /// `nil` for all, now and later; empty for none.
  public var types: Set<SampleType>?
  /// Nothing whose second of start begins before this; `nil` for no bound.
  public var earliest: Timestamp?
  /// Nothing whose second of start begins at this instant or later; `nil` for no bound.
  public var end: Timestamp?
  /// The names of sources (``Source/name``), whatever their versions; `nil` for all, empty for none.
  public var sources: Set<String>?

  /// Without arguments, everything. An `end` at or before `earliest` makes a filter that nothing passes.
  public init(
    types: Set<SampleType>? = nil, earliest: Timestamp? = nil, end: Timestamp? = nil, sources: Set<String>? = nil
  ) {
    (self.types, self.earliest, self.end, self.sources) = (types, earliest, end, sources)
  }

  /// No limit by type, date or source: unknown types and samples that are added later pass, too.
  public static let everything = SampleFilter()

  /// The redaction of samples for a reader who is limited to this filter.
  public var cut: SampleCut { SampleCut(self) }

  /// Whether samples of this type are meant, whenever they start.
  public func passes(_ type: SampleType) -> Bool { types?.contains(type) ?? true }

  /// Whether what starts then is within the time that is meant.
  public func passes(start: Timestamp) -> Bool {
    let bounds = bounds
    if let earliest = bounds.earliest, start < earliest { return false }
    if let end = bounds.end, start >= end { return false }
    return true
  }

  /// Whether samples of the source with this name are meant, whenever they start; `nil` for a source that is not known.
  public func passes(source: String?) -> Bool { sources.map { names in source.map(names.contains) ?? false } ?? true }

  /// Whether the sample is meant.
  public func passes(_ sample: Sample) -> Bool { passes(sample.reference) && passes(source: sample.source.name) }

  /// Whether the sample with this type and start may be meant, as far as its type and start tell.
  public func passes(_ sample: SampleReference) -> Bool { passes(sample.type) && passes(start: sample.start) }

  /// Whether everything that passes `other`, now and later, passes this one too.
  public func contains(_ other: SampleFilter) -> Bool {
    guard !other.isEmpty, let theirs = other.instants else { return true }
    guard let mine = instants, mine.contains(theirs.lowerBound), mine.contains(theirs.upperBound) else { return false }
    if let sources, other.sources.map(sources.isSuperset) != true { return false }
    guard let types else { return true }
    return other.types.map(types.isSuperset) ?? false
  }

  /// Whether nothing passes.
  public var isEmpty: Bool { types?.isEmpty == true || sources?.isEmpty == true || instants == nil }

  /// The filter that passes what both pass.
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

  /// The sources in order, for the audit log; `nil` for all.
  package var sourceList: String? { sources?.sorted().joined(separator: ", ") }

  /// The bounds as instants that samples are compared with.
  package var bounds: (earliest: Timestamp?, end: Timestamp?) {
    (earliest?.roundedUpToSecond, end?.roundedUpToSecond)
  }

  /// The time that is meant, as the store's queries have it; `nil` for all of it, because a range cannot hold the last
  /// instant of all.
  public var range: Range<Timestamp>? {
    let (earliest, end) = bounds
    if earliest == nil, end == nil { return nil }
    let first = earliest ?? Timestamp(microseconds: .min)
    return first..<max(first, end ?? Timestamp(microseconds: .max))
  }

  /// The first and the last instant that pass; `nil` where none does.
  public var instants: ClosedRange<Timestamp>? {
    let (earliest, end) = bounds
    let first = earliest ?? Timestamp(microseconds: .min)
    guard let end else { return first...Timestamp(microseconds: .max) }
    return first < end ? first...Timestamp(microseconds: end.microseconds - 1) : nil
  }
}

/// As the digest's answer and the control socket have it: `{"earliest":"2024-01-01T00:00:00Z","types":["HKQuantityTypeIdentifierHeartRate"]}`.
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
