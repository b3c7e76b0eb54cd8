import Foundation

/// The destination of an export.
public enum ExportDestination: Sendable {
  /// A file with mode 0600, which appears when it is complete.
  ///
  /// - Parameter replaces: whether an existing file may be replaced.
  case file(path: String, replaces: Bool)
  /// Files with mode 0600 in a folder, which appear together when all are complete. If missing, it is created with
  /// mode 0700.
  ///
  /// - Parameters:
  ///   - split: how the samples are divided among the files.
  ///   - replaces: whether existing files may be replaced; other files in the folder stay.
  case folder(path: String, split: ExportSplit, replaces: Bool)
  /// A stream of bytes, such as standard output.
  case stream(any ExportSink)
}

/// A way to divide an export among files. Files are named after their content, the same in each export.
public enum ExportSplit: Hashable, Sendable {
  /// A file for each type.
  case type
  /// A file for each month in a time zone, by the start of the samples.
  case month(TimeZone)
  /// A file for each workout, for ``ExportFormat/gpx`` and ``ExportFormat/calendar``, named by date and activity.
  case workout(TimeZone)

  /// The name in the audit log.
  var name: String {
    switch self {
    case .type: "type"
    case .month: "month"
    case .workout: "workout"
    }
  }
}
