import HealthAnalysis
import HealthModel
import HealthStore

/// What a destination may ask of the record: as it is now, within what it was selected to have.
public struct RecordReader: Sendable {
  let store: HealthStore
  /// What this destination may have.
  public let filter: SampleFilter
  /// Whose days count.
  public let zone: ZoneRules
  /// Whether the names of sources may be told.
  public let sendsNames: Bool
  /// The units that the person wants numbers in; of types that are not among them, the usual ones.
  public let units: [SampleType: String]

  /// - Parameters:
  ///   - zone: the person's home zone.
  ///   - sendsNames: whether the names of sources may be told.
  ///   - units: as HealthKit writes them, each of what its type measures.
  public init(
    _ store: HealthStore, filter: SampleFilter, zone: ZoneRules, sendsNames: Bool = true,
    units: [SampleType: String] = [:]
  ) {
    self.units = units
    self.store = store
    self.filter = filter
    self.zone = zone
    self.sendsNames = sendsNames
  }

  /// A sample as it may be told: without names where these are not to travel.
  func told(_ sample: Sample) -> Sample { sendsNames ? sample : NameRedaction.applied(to: sample) }

  /// The numbers of a type in time, in the days of ``zone``; without values where the type is not selected.
  ///
  /// - Parameters:
  ///   - end: not included.
  ///   - readings: which readings of apps count, of types that are selected.
  /// - Throws: `StatisticsError` of a type without numbers, `StoreError`.
  public func statistics(
    of type: SampleType, by size: BucketSize, from start: Timestamp?, to end: Timestamp?, now: Timestamp = .now,
    readings: ReadingRule = .all
  ) async throws -> Statistics {
    var query = StatisticsQuery(type, by: size, in: zone, now: now)
    query.start = [start, filter.bounds.earliest].compactMap(\.self).max()
    query.end = [end, filter.bounds.end].compactMap(\.self).min()
    query.sources = filter.passes(type) ? filter.sources : []
    (query.readings, query.readingTypes) = (readings, filter.types)
    return try await query.run(on: store)
  }
}
