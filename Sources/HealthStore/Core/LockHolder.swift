import OperatingSystem

/// Who holds a lock, as far as the kernel lets everybody see.
enum LockHolder {
  /// https://www.sqlite.org/walformat.html section 2.3.2: the byte of the index of the log that a writer locks.
  private static let writeLock = "120"

  /// `hpeer import (process 4711)`; `nil` where the process is not seen here.
  static func name(ofWriterTo path: String) -> String? {
    guard let index = FileStatus(path + "-shm") else { return nil }
    let lock = KernelLock.all().first {
      $0.kind == "POSIX" && $0.isExclusive && $0.start == writeLock && $0.inode == index.inode && $0.process > 0
    }
    return lock.map { ProcessName.of($0.process) }
  }
}
