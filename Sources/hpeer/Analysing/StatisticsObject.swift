import HealthAnalysis
import HealthModel

/// The numbers of a type as JSON: docs/json.md.
struct StatisticsObject: Encodable {
  var type: String
  var unit: String?
  var zone: String
  var bucket: String
  var values: [Value]
  var withoutNumber: Int?
  var withoutUnit: Int?

  struct Value: Encodable {
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

  struct Covered: Encodable {
    var source: String
    var seconds: Double
  }

  init(_ statistics: Statistics, _ zone: ZoneRules) {
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
}
