import Foundation
import HealthModel

/// One record of a day's file, as it is read: HealthPush's members, and hpeer's own where it wrote the file.
struct HealthPushRecord: Decodable {
  struct Metric: Decodable {
    var key: String
    var hkIdentifier: String
    var kind: String
  }

  struct RecordSource: Decodable {
    var name: String?
    var bundleId: String?
  }

  /// A line of the change feed: the whole sample.
  struct Feed: Decodable {
    var added: Sample?
  }

  var uuid: UUID
  var startDate: Timestamp
  var endDate: Timestamp
  var value: Double?
  var unit: String?
  var aggregation: String?
  var categoryValue: Int64?
  var deleted: Bool?
  var metric: Metric
  var source: RecordSource?
  var hpeer: Feed?

  /// Why a record is no sample, for a report.
  enum Rejection: Error {
    /// It says that there was one.
    case deleted
    case unreadable(String)
  }

  /// A row of a table, whose fields are in HealthPush's order; what it does not say, its key does.
  ///
  /// - Throws: ``Rejection``
  init(row: [String], key: String) throws(Rejection) {
    guard row.count == 10, let uuid = UUID(uuidString: row[0]), let start = Timestamp(iso8601: row[1]),
      let end = Timestamp(iso8601: row[2])
    else { throw .unreadable("a row that is no record") }
    guard let identifier = HealthPushMetric.identifiers[key], let known = HealthPushMetric.known(identifier) else {
      throw .unreadable("a row of a type that its table does not name")
    }
    (self.uuid, startDate, endDate) = (uuid, start, end)
    (value, unit, aggregation) = (Double(row[4]), row[5], row[6])
    metric = Metric(key: key, hkIdentifier: identifier, kind: known.kind)
    source = RecordSource(name: row[7], bundleId: row[8])
  }

  /// What it says of a sample.
  ///
  /// - Parameters:
  ///   - repairsUnits: whether numbers without hpeer's own member are HealthPush's, six of whose units are wrong.
  ///   - modified: when the file was written: the newer of two sums of one day counts.
  /// - Returns: the sample, and whether a newer reading replaces it.
  /// - Throws: ``Rejection``
  func sample(repairsUnits: Bool, modified: Timestamp) throws(Rejection) -> (sample: Sample, isReading: Bool) {
    if deleted == true { throw .deleted }
    if let whole = hpeer?.added { return (whole, false) }
    var sample = Sample(
      uuid: uuid, type: SampleType(metric.hkIdentifier), start: startDate, end: endDate,
      source: Source(name: source?.name ?? "", bundleIdentifier: source?.bundleId.flatMap { $0.isEmpty ? nil : $0 }),
      payload: .category(CategoryValue(value: categoryValue)))
    switch metric.kind {
    case "category":
      guard categoryValue != nil else { throw .unreadable("\(metric.key): a record without its value") }
      return (sample, false)
    case "quantity", "cumulative":
      guard var value, value.isFinite, let unit else {
        throw .unreadable("\(metric.key): a record without its value")
      }
      if repairsUnits, let known = HealthPushMetric.known(metric.hkIdentifier) { value = known.repaired(value, unit) }
      sample.payload = .quantity(Quantity(value, unit == "fraction" ? "%" : unit))
      guard aggregation == "sum" else { return (sample, false) }
      // The sum of a day is none of the samples that it is of, and it grows until the day is over.
      sample.type = SampleType("healthpush.\(metric.key)")
      sample.metadata = ["hpeer.aggregation": .string("day")]
      sample.created = modified
      sample.uuid = SampleIdentity.uuid(ofReading: sample)
      return (sample, true)
    default: throw .unreadable("\(metric.key): a record without the sample itself")
    }
  }
}
