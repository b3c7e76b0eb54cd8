import Foundation

/// A lock on a file as the kernel lets everybody see it: a line of /proc/locks; see proc(5).
///
/// To ask for a lock by fcntl(2) needs a descriptor, and closing that drops this process's own locks on the file.
public struct KernelLock: Hashable, Sendable {
  /// `POSIX` for locks by fcntl(2), `FLOCK` for those by flock(2).
  public let kind: Substring
  /// Alone, not shared.
  public let isExclusive: Bool
  /// 0 or less where the process is not seen here.
  public let process: Int32
  /// The file's, which another file system may have as well: the device is not kept.
  public let inode: UInt64
  /// The first byte that is locked, of the whole file 0.
  public let start: Substring

  /// All lines that can be read, of which `12: POSIX  ADVISORY  WRITE 4711 08:01:131 120 120` is one.
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

  /// Those of this machine's files now; none where the kernel does not say.
  public static func all() -> [KernelLock] {
    (try? String(contentsOfFile: "/proc/locks", encoding: .utf8)).map(parse) ?? []
  }
}
