import OperatingSystem
import Synchronization

/// An exclusive lock for replacing the files of a store. Every store that is open for writing holds it shared, so
/// that no process writes to files that are moved aside.
public final class ReplacementLock: Sendable {
  /// The number of attempts to take a lock that other processes hold, perhaps only for a moment: two seconds in all.
  private static let attempts = 100

  private let lock: Mutex<FileLock?>

  /// Takes the lock. Waits at most two seconds. Blocking. Throws ``StoreError/inUse(path:by:)``.
  ///
  /// - Parameter directory: the directory of the store.
  public init(of directory: String) throws(StoreError) {
    let path = Self.path(in: directory)
    var attempts = 0
    do {
      let free = try FileLock(path, .alone) {
        attempts += 1
        return attempts >= Self.attempts
      }
      guard let free else {
        let holder = FileStatus(path).flatMap { status in
          KernelLock.all().first { $0.kind == "FLOCK" && $0.inode == status.inode && $0.process > 0 }
        }
        throw StoreError.inUse(path: directory, by: holder.map { ProcessName.of($0.process) })
      }
      lock = Mutex(free)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Releases the lock, so that processes can open the store while this object still exists.
  public func release() { lock.withLock { $0 = nil } }

  /// Returns the shared lock that a store holds while it is open. Throws ``StoreError/beingReplaced(path:)``.
  static func open(_ directory: String) throws -> FileLock {
    guard let lock = try FileLock(ifFree: path(in: directory), .shared) else {
      throw StoreError.beingReplaced(path: directory)
    }
    return lock
  }

  private static func path(in directory: String) -> String { directory + "/replace.lock" }
}
