import GRDB
import HealthModel

extension HealthStore {
  /// The imports of a store, and how to undo them. ``ImportWriter`` imports.
  public struct Imports: Sendable {
    let store: HealthStore
  }

  /// The imports of the store, and how to undo them. ``ImportWriter`` imports.
  public var imports: Imports { Imports(store: self) }
}

extension HealthStore.Imports {
  /// Returns a lock that prevents imports from being undone while it is held. Names and twins that were read before a
  /// file must still be valid while it is imported, and an import lasts until
  /// ``finish(_:digest:isComplete:isSnapshot:)``. Blocks while an import is being undone; throws
  /// ``StoreError/cancelled`` if `isCancelled` returns true meanwhile.
  public func hold(unless isCancelled: () -> Bool = { false }) throws(StoreError) -> ImportLock {
    try ImportLock(shared: store.directory, isCancelled: isCancelled)
  }

  /// Undoes the last import without a trace, as if the store had been restored from a copy made before it. Added
  /// samples are removed without tombstones, deleted or replaced samples come back, and the same file can be imported
  /// again. Only the audit log records both.
  ///
  /// Runs in one transaction and begins a new epoch, so that a reader with a position after the import's start has to
  /// start over: ``HealthStore/Feed/changes(since:epoch:filter:limit:)`` throws.
  ///
  /// Refused if a peer has read anything of the import, or if anything else has changed the store since. Then the
  /// samples can only be deleted, and the deletions reach all peers.
  ///
  /// - Parameter isDryRun: whether to return the outcome without changing anything.
  public func undoLast(isDryRun: Bool = false) async throws(StoreError) -> UndoOutcome {
    guard let lock = try ImportLock(alone: store.directory) else { return .refused(.running) }
    defer { withExtendedLifetime(lock) {} }
    if isDryRun {
      return try await store.read { db -> UndoOutcome in
        switch try UndoableImport.find(db) {
        case .success(let found): .undone(try found.summary(db))
        case .failure(let obstacle): .refused(obstacle.refusal)
        }
      }
    }
    return try await store.write { db -> UndoOutcome in
      switch try UndoableImport.find(db) {
      case .success(let found): .undone(try found.undo(db))
      case .failure(let obstacle): .refused(obstacle.refusal)
      }
    }
  }
}
