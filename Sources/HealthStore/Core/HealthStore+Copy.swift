import GRDB
import OperatingSystem

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension HealthStore {
  /// Makes a copy of this store as it is now in another directory, which is made and must not be there: to try out there what a write would do.
  ///
  /// The copy is the same store under the same name. It must not be served, and not outlive its purpose. Blocking.
  public func copyBlocking(to directory: String) throws(StoreError) {
    let target = directory + "/store.sqlite"
    do {
      guard mkdir(directory, 0o700) == 0 else { throw SystemError("mkdir", directory) }
      try PrivateFile.create(target, [])
      let queue = try DatabaseQueue(path: target)
      defer { try? queue.close() }
      try pool.backup(to: queue)
    } catch {
      throw StoreError(error, path: target)
    }
  }
}
