import HealthModel

/// The numbers of a type as JSON: what `hpeer stats --json` prints and `GET /api/v2/statistics` answers (docs/json.md). Nothing
/// is rounded; times are ISO 8601 with the offset of their zone.
public struct StatisticsObject: Encodable, Sendable {
  var type: String
  var unit: String?
  var zone: String
  var bucket: String
  var values: [Value]
  var withoutNumber: Int?
  var withoutUnit: Int?

  struct Value: Encodable, Sendable {
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
  }

  struct Covered: Encodable, Sendable {
    var source: String
    var seconds: Double
  }

  /// - Parameter zone: that of the question.
  public init(_ statistics: Statistics, _ zone: ZoneRules) {
    type = statistics.type.shortName
    unit = statistics.unit
    self.zone = statistics.zone
    bucket = statistics.size.rawValue
    values = statistics.values.map { Self.value($0, zone) }
    withoutNumber = statistics.withoutNumber == 0 ? nil : statistics.withoutNumber
    withoutUnit = statistics.withoutUnit == 0 ? nil : statistics.withoutUnit
  }

  private static func value(_ value: BucketStatistics, _ zone: ZoneRules) -> Value {
    var object = Value(
      start: zone.text(value.bucket.start), end: zone.text(value.bucket.end), date: zone.date(value.bucket.start),
      partial: value.isPartial)
    switch value.number {
    case .sum(let sum):
      object.sum = JSONNumber(value: sum.sum)
      object.sources = sum.sources.map(\.name)
      object.covered = sum.sources.map { Covered(source: $0.name, seconds: $0.seconds) }
      object.twins = sum.twins
    case .discrete(let values):
      object.min = JSONNumber(value: values.minimum)
      object.max = JSONNumber(value: values.maximum)
      object.mean = values.mean.map(JSONNumber.init)
      object.meanOfSamples = JSONNumber(value: values.meanOfSamples)
      object.count = values.count
      object.last = JSONNumber(value: values.last)
    }
    return object
  }

  /// Without what tells of single samples: their number, the last of them, what each source has.
  ///
  /// - Parameter statistics: of which only whole buckets that are over are said.
  public init(sumsOnly statistics: Statistics, _ zone: ZoneRules) {
    var whole = statistics
    whole.values.removeAll(where: \.isPartial)
    self.init(whole, zone)
    (withoutNumber, withoutUnit) = (nil, nil)
    for index in values.indices {
      values[index].sources = nil
      values[index].covered = nil
      values[index].twins = nil
      values[index].meanOfSamples = nil
      values[index].count = nil
      values[index].last = nil
    }
  }
}
