/// What a day's file is written in.
enum DayFileFormat: String, Sendable, CaseIterable {
  /// A record a line, without a line break after the last (HealthPush's `.jsonl`).
  case ndjson
  /// One array, indented.
  case json
  /// HealthPush's columns, which have no place for sleep stages, deletions or whole samples.
  case csv

  /// After the dot of the object's name.
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

  /// Whether a deleted sample leaves a record; otherwise it is one that is not there.
  var keepsDeletions: Bool { self != .csv }

  // MARK: Around records

  /// A file without records.
  var emptyFile: String {
    switch self {
    case .ndjson: ""
    case .json: "[\n\n]"
    case .csv: Self.header
    }
  }

  /// Before the first record.
  var opening: String {
    switch self {
    case .ndjson: ""
    case .json: "[\n  "
    case .csv: Self.header + "\n"
    }
  }

  /// Between two records.
  var separator: String {
    switch self {
    case .ndjson, .csv: "\n"
    case .json: ",\n  "
    }
  }

  /// After the last record.
  var closing: String {
    switch self {
    case .ndjson, .csv: ""
    case .json: "\n]"
    }
  }

  /// The first line of a CSV file.
  static let header = "uuid,startDate,endDate,tzOffset,value,unit,aggregation,sourceName,sourceBundleId,schemaVersion"
}
