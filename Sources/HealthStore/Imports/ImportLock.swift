import Foundation
import HomeFiles

/// Held by every import of a store while it runs, together, and by one that undoes an import, alone. A process that is
/// killed lets go of it.
public final class ImportLock: Sendable {
  private let descriptor: Int32

  /// Waits for whoever undoes an import. Blocking.
  init(shared directory: String) throws(StoreError) {
    let file = try Self.file(in: directory)
    while flock(file, LOCK_SH) != 0 {
      guard errno == EINTR else {
        let detail = String(cString: strerror(errno))
        close(file)
        throw .unusableDirectory(path: directory, detail: detail)
      }
    }
    descriptor = file
  }

  /// `nil` while an import runs.
  init?(alone directory: String) throws(StoreError) {
    let file = try Self.file(in: directory)
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      close(file)
      return nil
    }
    descriptor = file
  }

  deinit { close(descriptor) }

  private static func file(in directory: String) throws(StoreError) -> Int32 {
    let path = directory + "/import.lock"
    do {
      return try FileLock.open(path)
    } catch {
      throw StoreError(error, path: path)
    }
  }
}
