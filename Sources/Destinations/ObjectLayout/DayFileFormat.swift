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

  /// The first line of a CSV file.
  static let header = "uuid,startDate,endDate,tzOffset,value,unit,aggregation,sourceName,sourceBundleId,schemaVersion"
}
