/// The format of a day file.
enum DayFileFormat: String, Sendable, CaseIterable {
  /// A record per line, without a line break after the last (HealthPush's `.jsonl`).
  case ndjson
  /// A single indented array.
  case json
  /// HealthPush's columns, which cannot represent sleep stages, deletions or whole samples.
  case csv

  /// The file name extension, without the dot.
  var fileExtension: String {
    switch self {
    case .ndjson: "jsonl"
    case .json: "json"
    case .csv: "csv"
    }
  }

  var contentType: String {
    switch self {
    case .ndjson: "application/x-ndjson"
    case .json: "application/json"
    case .csv: "text/csv"
    }
  }

  /// Whether a deleted sample is kept as a record that says so. Otherwise its record is removed.
  var keepsDeletions: Bool { self != .csv }

  // MARK: Around records

  /// The content of a file without records.
  var emptyFile: String {
    switch self {
    case .ndjson: ""
    case .json: "[\n\n]"
    case .csv: Self.header
    }
  }

  /// The text before the first record.
  var opening: String {
    switch self {
    case .ndjson: ""
    case .json: "[\n  "
    case .csv: Self.header + "\n"
    }
  }

  /// The text between two records.
  var separator: String {
    switch self {
    case .ndjson, .csv: "\n"
    case .json: ",\n  "
    }
  }

  /// The text after the last record.
  var closing: String {
    switch self {
    case .ndjson, .csv: ""
    case .json: "\n]"
    }
  }

  /// The first line of a CSV file.
  static let header = "uuid,startDate,endDate,tzOffset,value,unit,aggregation,sourceName,sourceBundleId,schemaVersion"
}
