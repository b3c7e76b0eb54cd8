import HealthFormats
import HealthModel

/// The bytes that records of one shape share, with the positions of the values that differ.
struct RecordTemplate: Sendable {
  /// A value that differs from sample to sample.
  enum Variable: Sendable {
    case categoryValue, deletedAt, endDate
    /// The line of the change feed.
    case change
    case startDate, tzOffset, uuid, value
  }

  /// The values that records of one shape share.
  struct Constants: Sendable {
    var type: SampleType
    var metric: HealthPushMetric
    var source: Source
    var unit: String
    /// The derivation of the value: `raw`, `sum` or `mean`.
    var aggregation: String
    var isDeleted: Bool
  }

  private var bytes: [UInt8] = []
  private var variables: [(variable: Variable, offset: Int)] = []

  /// Calls a function with each run of constant bytes and the variable after it, or `nil` at the end.
  func forEach(_ body: (UnsafeBufferPointer<UInt8>, Variable?) throws -> Void) rethrows {
    try bytes.withUnsafeBufferPointer { bytes in
      var start = 0
      for (variable, offset) in variables {
        try body(UnsafeBufferPointer(rebasing: bytes[start..<offset]), variable)
        start = offset
      }
      try body(UnsafeBufferPointer(rebasing: bytes[start...]), nil)
    }
  }

  mutating func append(_ text: some Sequence<UInt8>) { bytes.append(contentsOf: text) }

  mutating func append(_ variable: Variable) { variables.append((variable, bytes.count)) }

  // MARK: Formats

  /// Returns the template of a JSON record.
  ///
  /// - Parameter hasChange: whether the record has the member `hpeer`.
  static func object(_ constants: Constants, isPretty: Bool, hasChange: Bool) -> RecordTemplate {
    var object = RecordObject(isPretty: isPretty)
    object.begin()
    object.member("aggregation", constants.aggregation)
    object.member("categoryValue", .categoryValue)
    object.member("deleted", constants.isDeleted)
    if constants.isDeleted { object.member("deletedAt", quoted: .deletedAt) }
    object.member("endDate", quoted: .endDate)
    if hasChange { object.member("hpeer", .change) }
    object.name("metric")
    object.begin()
    object.member("hkIdentifier", constants.type.rawValue)
    object.member("key", constants.metric.key)
    object.member("kind", constants.metric.kind)
    object.end()
    object.member("schemaVersion", "1.0")
    object.name("source")
    object.begin()
    object.member("bundleId", constants.source.bundleIdentifier ?? "")
    object.member("name", constants.source.name)
    object.end()
    object.member("startDate", quoted: .startDate)
    object.member("tzOffset", quoted: .tzOffset)
    object.member("unit", constants.unit)
    object.member("uuid", quoted: .uuid)
    object.member("value", .value)
    object.end()
    return object.template
  }

  /// Returns the template of a CSV row, with the columns of ``DayFileFormat/header``.
  static func row(_ constants: Constants) -> RecordTemplate {
    var row = RecordTemplate()
    for variable: Variable in [.uuid, .startDate, .endDate, .tzOffset, .value] {
      row.append(variable)
      row.append(",".utf8)
    }
    let columns = [
      constants.unit, constants.aggregation, constants.source.name, constants.source.bundleIdentifier ?? "", "1.0",
    ]
    row.append(columns.map(quoted).joined(separator: ",").utf8)
    return row
  }

  private static func quoted(_ field: String) -> String {
    guard field.utf8.contains(where: { ",\"\n\r".utf8.contains($0) }) else { return field }
    return "\"" + field.replacing("\"", with: "\"\"") + "\""
  }
}
