import GRDB

extension HealthStore {
  /// Makes a copy of this store as it is now in another directory, which is made: to try out there what a write would do.
  ///
  /// The copy is the same store under the same name. It must not be served, and not outlive its purpose. Blocking.
  public func copyBlocking(to directory: String) throws(StoreError) {
    let target = directory + "/store.sqlite"
    do {
      try PrivateDirectory.prepare(directory)
      try PrivateDirectory.createFile(target)
      let queue = try DatabaseQueue(path: target)
      defer { try? queue.close() }
      try pool.backup(to: queue)
    } catch {
      throw StoreError(error, path: target)
    }
  }
}
