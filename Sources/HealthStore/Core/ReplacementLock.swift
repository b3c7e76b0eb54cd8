import OperatingSystem
import Synchronization

/// An exclusive lock for replacing the files of a store. Every store that is open for writing holds it shared, so that nothing is
/// written into files that are moved aside.
public final class ReplacementLock: Sendable {
  /// How often a lock is tried that others hold, who may only have looked: two seconds.
  private static let attempts = 100

  private let lock: Mutex<FileLock?>

  /// Waits two seconds at most. Blocking. Throws ``StoreError/inUse(path:by:)``.
  ///
  /// - Parameter directory: of the store.
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

  /// Lets others open the store before this is gone.
  public func release() { lock.withLock { $0 = nil } }

  /// To be kept for as long as a store is open. Throws ``StoreError/beingReplaced(path:)``.
  static func open(_ directory: String) throws -> FileLock {
    guard let lock = try FileLock(ifFree: path(in: directory), .shared) else {
      throw StoreError.beingReplaced(path: directory)
    }
    return lock
  }

  private static func path(in directory: String) -> String { directory + "/replace.lock" }
}
