import Foundation

/// Where an export goes.
public enum ExportDestination: Sendable {
  /// A file of mode 0600, which appears when it is whole.
  ///
  /// - Parameter replaces: whether a file that is there may be lost.
  case file(path: String, replaces: Bool)
  /// Files of mode 0600 in a folder, which appear together when all are whole. A folder that is not there is made, with
  /// mode 0700.
  ///
  /// - Parameters:
  ///   - split: which samples are in which file.
  ///   - replaces: whether files that are there may be lost; others in the folder stay.
  case folder(path: String, split: ExportSplit, replaces: Bool)
  /// Bytes as they come, such as standard output.
  case stream(any ExportSink)
}

/// How an export is divided among files. Each is named after what is in it, so that a later export has the same names.
public enum ExportSplit: Hashable, Sendable {
  /// A file for each type.
  case type
  /// A file for each month in which samples start, by the clocks of a zone.
  case month(TimeZone)
  /// A file for each workout, of ``ExportFormat/gpx`` and ``ExportFormat/calendar``, named by the date in a zone and the activity.
  case workout(TimeZone)

  /// For the audit log.
  var name: String {
    switch self {
    case .type: "type"
    case .month: "month"
    case .workout: "workout"
    }
  }
}
