import OperatingSystem

/// A lock that running imports of a store share, and that undoing an import takes exclusively. A killed process
/// releases it.
public final class ImportLock: Sendable {
  private let lock: FileLock

  /// Waits until no import is being undone, or until `isCancelled` returns true. Blocking.
  init(shared directory: String, isCancelled: () -> Bool) throws(StoreError) {
    let path = Self.path(in: directory)
    do {
      guard let free = try FileLock(path, .shared, unless: isCancelled) else { throw StoreError.cancelled }
      lock = free
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Takes the exclusive lock. Returns `nil` while an import runs.
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
