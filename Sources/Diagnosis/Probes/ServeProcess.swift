import Foundation
import OperatingSystem

/// A running `hpeer serve`, detected by its lock on `serve.lock` without touching that lock.
struct ServeProcess: Hashable, Sendable {
  let pid: Int32

  /// Creates a process if the file is locked.
  /// - Parameters:
  ///   - locks: the contents of /proc/locks; see proc(5).
  ///   - file: the contents of `serve.lock`, which remain after the process has ended.
  init?(locks: String, inode: UInt64, file: String) {
    guard let pid = Int32(file.trimmingCharacters(in: .whitespacesAndNewlines)), pid > 0 else { return nil }
    let isLocked = KernelLock.parse(locks).contains { $0.kind == "FLOCK" && $0.isExclusive && $0.inode == inode }
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
