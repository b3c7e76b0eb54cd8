import HealthModel

/// The statistics of a type as JSON, as `hpeer stats --json` prints and `GET /api/v2/statistics` returns them
/// (docs/reference/json.md). Numbers are not rounded; times are ISO 8601 with the zone's UTC offset.
public struct StatisticsObject: Encodable, Sendable {
  var type: String
  var unit: String?
  var zone: String
  var bucket: String
  package var values: [Value]
  var withoutNumber: Int?
  var withoutUnit: Int?
  var implausibleTime: Int?

  package struct Value: Encodable, Sendable {
    enum CodingKeys: String, CodingKey {
      case start, end, date, partial, sum, sources, covered, twins, min, max, mean, meanOfSamples, count, last, readings
    }

    var start: String
    var end: String
    var date: String
    var partial: Bool
    var sum: JSONNumber?
    var sources: [String]?
    var covered: [Covered]?
    var twins: Int?
    var min: JSONNumber?
    var max: JSONNumber?
    var mean: JSONNumber?
    var meanOfSamples: JSONNumber?
    var count: Int?
    var last: JSONNumber?
    /// The part of a sum that comes from app readings, or the number of app readings among discrete values.
    var readings: JSONNumber?
    /// The members that are `null` in a bucket without a number.
    var nulls: [CodingKeys] = []

    package func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(start, forKey: .start)
      try container.encode(end, forKey: .end)
      try container.encode(date, forKey: .date)
      try container.encode(partial, forKey: .partial)
      try container.encodeIfPresent(sum, forKey: .sum)
      try container.encodeIfPresent(sources, forKey: .sources)
      try container.encodeIfPresent(covered, forKey: .covered)
      try container.encodeIfPresent(twins, forKey: .twins)
      try container.encodeIfPresent(min, forKey: .min)
      try container.encodeIfPresent(max, forKey: .max)
      try container.encodeIfPresent(mean, forKey: .mean)
      try container.encodeIfPresent(meanOfSamples, forKey: .meanOfSamples)
      try container.encodeIfPresent(count, forKey: .count)
      try container.encodeIfPresent(last, forKey: .last)
      try container.encodeIfPresent(readings, forKey: .readings)
      for key in nulls { try container.encodeNil(forKey: key) }
    }
  }

  struct Covered: Encodable, Sendable {
    var source: String
    var seconds: Double
  }

  /// Creates the object.
  ///
  /// - Parameter entries: the buckets of `statistics`, including those without a number if they are to appear as
  ///   `null`.
  public init(_ statistics: Statistics, _ entries: [BucketEntry], _ zone: ZoneRules) {
    type = statistics.type.shortName
    unit = statistics.unit
    self.zone = statistics.zone
    bucket = statistics.size.rawValue
    values = entries.map { Self.value($0, statistics.aggregation, zone) }
    withoutNumber = statistics.withoutNumber == 0 ? nil : statistics.withoutNumber
    withoutUnit = statistics.withoutUnit == 0 ? nil : statistics.withoutUnit
    implausibleTime = statistics.implausibleTime == 0 ? nil : statistics.implausibleTime
  }

  /// Creates the object with the buckets that have a number.
  public init(_ statistics: Statistics, _ zone: ZoneRules) { self.init(statistics, statistics.entries, zone) }

  /// Creates the object without details about single samples: their number, the last value, and the share of each
  /// source.
  ///
  /// - Parameters:
  ///   - statistics: the statistics, of which only complete buckets are included.
  ///   - zone: the zone of the query.
  public init(sumsOnly statistics: Statistics, _ zone: ZoneRules) {
    let whole = statistics.values.filter { !$0.isPartial }
    self.init(statistics, whole.map { BucketEntry(bucket: $0.bucket, number: $0.number, isPartial: false) }, zone)
    (withoutNumber, withoutUnit) = (nil, nil)
    for index in values.indices {
      values[index].sources = nil
      values[index].covered = nil
      values[index].twins = nil
      values[index].meanOfSamples = nil
      values[index].count = nil
      values[index].last = nil
      values[index].readings = nil
    }
  }

  package static func value(
    _ entry: BucketEntry, _ aggregation: SampleTypeCatalogue.Aggregation, _ zone: ZoneRules
  ) -> Value {
    var object = Value(
      start: zone.text(entry.bucket.start), end: zone.text(entry.bucket.end), date: zone.date(entry.bucket.start),
      partial: entry.isPartial)
    switch entry.number {
    case .sum(let sum):
      object.sum = JSONNumber(value: sum.sum)
      object.sources = sum.sources.map(\.name)
      object.covered = sum.sources.map { Covered(source: $0.name, seconds: $0.seconds) }
      object.twins = sum.twins
      if sum.readings != 0 { object.readings = JSONNumber(value: sum.readings) }
    case .discrete(let values):
      object.min = JSONNumber(value: values.minimum)
      object.max = JSONNumber(value: values.maximum)
      object.mean = values.mean.map(JSONNumber.init)
      object.meanOfSamples = JSONNumber(value: values.meanOfSamples)
      object.count = values.count
      object.last = JSONNumber(value: values.last)
      if values.readings > 0 { object.readings = JSONNumber(value: Double(values.readings)) }
    case nil: object.nulls = aggregation == .cumulative ? [.sum] : [.min, .max, .mean]
    }
    return object
  }
}
