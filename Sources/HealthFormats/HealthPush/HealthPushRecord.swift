import Foundation
import HealthModel

/// A record of a day file, with HealthPush's members and the `hpeer` member of files that hpeer wrote.
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

  /// A change feed line that holds the complete sample.
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

  /// The reason why a record is not imported.
  enum Rejection: Error {
    /// The record states that the sample was deleted.
    case deleted
    case unreadable(String)
  }

  /// Creates a record from a table row with HealthPush's columns. The file's key supplies the type.
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

  /// Returns the sample that the record describes.
  ///
  /// - Parameters:
  ///   - repairsUnits: whether HealthPush's six wrong units are corrected in records that hpeer did not write.
  ///   - modified: the file's modification time. Of two sums of one day, the newer counts.
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
      // A daily sum is not one of its samples, and it grows until the day is over.
      sample.type = SampleType("healthpush.\(metric.key)")
      sample.metadata = ["hpeer.aggregation": .string("day")]
      sample.created = modified
      sample.uuid = SampleIdentity.uuid(ofReading: sample)
      return (sample, true)
    default: throw .unreadable("\(metric.key): a record without the sample itself")
    }
  }
}
