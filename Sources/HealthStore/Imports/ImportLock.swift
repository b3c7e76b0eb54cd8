import OperatingSystem

/// Held by every import of a store while it runs, together, and by one that undoes an import, alone. A process that is
/// killed lets go of it.
public final class ImportLock: Sendable {
  private let lock: FileLock

  /// Waits for whoever undoes an import, or until it is cancelled. Blocking.
  init(shared directory: String, isCancelled: () -> Bool) throws(StoreError) {
    let path = Self.path(in: directory)
    do {
      guard let free = try FileLock(path, .shared, unless: isCancelled) else { throw StoreError.cancelled }
      lock = free
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// `nil` while an import runs.
  init?(alone directory: String) throws(StoreError) {
    let path = Self.path(in: directory)
    do {
      guard let free = try FileLock(ifFree: path, .alone) else { return nil }
      lock = free
    } catch {
      throw StoreError(error, path: path)
    }
  }

  private static func path(in directory: String) -> String { directory + "/import.lock" }
}
