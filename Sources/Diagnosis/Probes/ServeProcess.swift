import Foundation

/// A running `hpeer serve`, told by its lock on `serve.lock`, without touching that lock.
struct ServeProcess: Hashable, Sendable {
  let pid: Int32

  /// - Parameters:
  ///   - locks: the contents of /proc/locks; see proc(5).
  ///   - file: the contents of `serve.lock`, which outlive the process that wrote them.
  init?(locks: String, inode: UInt64, file: String) {
    guard let pid = Int32(file.trimmingCharacters(in: .whitespacesAndNewlines)), pid > 0 else { return nil }
    let isLocked = locks.split(separator: "\n").contains { line in
      let fields = line.split(separator: " ")
      return fields.count >= 6 && fields[1] == "FLOCK" && fields[3] == "WRITE"
        && fields[5].split(separator: ":").last.flatMap { UInt64($0) } == inode
    }
    guard isLocked else { return nil }
    self.pid = pid
  }

  init?(home: String, machine: Machine) {
    let path = home + "/serve.lock"
    guard let status = FileStatus(path), let file = machine.text(path), let locks = machine.text("/proc/locks") else {
      return nil
    }
    self.init(locks: locks, inode: status.inode, file: file)
  }
}
