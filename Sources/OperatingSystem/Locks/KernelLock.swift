import Foundation

/// A file lock as the kernel lists it: a line of /proc/locks; see proc(5).
///
/// Querying a lock with fcntl(2) needs a descriptor, and closing that would drop this process's own locks on the
/// file.
public struct KernelLock: Hashable, Sendable {
  /// The kind of lock: `POSIX` for fcntl(2), `FLOCK` for flock(2).
  public let kind: Substring
  /// Whether the lock is exclusive rather than shared.
  public let isExclusive: Bool
  /// The ID of the process that holds the lock; 0 or less if the process is not visible here.
  public let process: Int32
  /// The inode of the file. Files of other file systems may have the same inode: the device is not kept.
  public let inode: UInt64
  /// The offset of the first locked byte; 0 for a whole file.
  public let start: Substring

  /// Returns the locks in all lines that can be parsed, such as `12: POSIX  ADVISORY  WRITE 4711 08:01:131 120 120`.
  public static func parse(_ lines: String) -> [KernelLock] {
    lines.split(separator: "\n").compactMap(KernelLock.init(line:))
  }

  private init?(line: Substring) {
    let fields = line.split(separator: " ")
    guard fields.count >= 7, let process = Int32(fields[4]),
      let inode = fields[5].split(separator: ":").last.flatMap({ UInt64($0) })
    else { return nil }
    kind = fields[1]
    isExclusive = fields[3] == "WRITE"
    self.process = process
    self.inode = inode
    start = fields[6]
  }

  /// Returns the current locks on this machine's files; none if the kernel does not list them.
  public static func all() -> [KernelLock] {
    (try? String(contentsOfFile: "/proc/locks", encoding: .utf8)).map(parse) ?? []
  }
}
