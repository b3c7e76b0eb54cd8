import Foundation
import Glibc

/// How much a line matters: the levels of syslog(3), as the journal takes them from the beginning of a line (sd-daemon(3)).
public enum LinePriority: Int, Sendable {
  case error = 3
  case warning = 4
  case notice = 5
  case information = 6
  case debugging = 7
}

/// Streams that lead into systemd's journal, which knows by itself when a line came and who wrote it.
public enum JournalStream {
  /// Whether this stream does: `JOURNAL_STREAM` is inherited, and says which file it speaks of (systemd.exec(5)).
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

  /// The text as the journal takes it: each line begins with the priority, as each is an entry of its own.
  public static func entries(_ text: String, _ priority: LinePriority) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { "<\(priority.rawValue)>\($0)" }
      .joined(separator: "\n")
  }
}
