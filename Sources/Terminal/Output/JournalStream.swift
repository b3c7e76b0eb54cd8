import Foundation
import Glibc

/// The priority of a line: the levels of syslog(3), which the journal reads at the beginning of a line
/// (sd-daemon(3)).
public enum LinePriority: Int, Sendable {
  case error = 3
  case warning = 4
  case notice = 5
  case information = 6
  case debugging = 7
}

/// A test and a format for streams that lead into systemd's journal, which adds the time and the writer of each line.
public enum JournalStream {
  /// Returns whether a stream leads into the journal. `JOURNAL_STREAM` is inherited, and names the file that it is
  /// about (systemd.exec(5)).
  public static func leads(
    from stream: StandardStream, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> Bool {
    leads(from: stream.rawValue, environment)
  }

  static func leads(from descriptor: Int32, _ environment: [String: String]) -> Bool {
    guard let text = environment["JOURNAL_STREAM"] else { return false }
    let numbers = text.split(separator: ":", omittingEmptySubsequences: false)
    guard numbers.count == 2, let device = UInt64(numbers[0]), let inode = UInt64(numbers[1]) else { return false }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    return UInt64(status.st_dev) == device && UInt64(status.st_ino) == inode
  }

  /// Returns the text in the journal's format: each line begins with the priority, because each is an entry of its
  /// own.
  public static func entries(_ text: String, _ priority: LinePriority) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { "<\(priority.rawValue)>\($0)" }
      .joined(separator: "\n")
  }
}
