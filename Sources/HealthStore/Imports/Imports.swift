import GRDB
import HealthModel

extension HealthStore {
  /// What was imported, and how it is taken back. ``ImportWriter`` imports.
  public struct Imports: Sendable {
    let store: HealthStore
  }

  /// What was imported, and how it is taken back. ``ImportWriter`` imports.
  public var imports: Imports { Imports(store: self) }
}

extension HealthStore.Imports {
  /// Keeps imports from being undone while it is held: what a store says of names and twins before a file is read must
  /// still hold while it is imported, and an import is not over before ``finish(_:digest:isComplete:isSnapshot:)``.
  /// Blocks while an import is being undone; throws ``StoreError/cancelled`` once `isCancelled` then.
  public func hold(unless isCancelled: () -> Bool = { false }) throws(StoreError) -> ImportLock {
    try ImportLock(shared: store.directory, isCancelled: isCancelled)
  }

  /// Takes the last import back without a trace, as if a copy of the store from before had been put in its place: what it
  /// added is gone without a tombstone, what it deleted or replaced is back, and the same file can be imported again. Only
  /// the audit log remembers both.
  ///
  /// All of it is one transaction. It begins a new epoch, so that a reader with a position after the import's start has to
  /// start over; ``changes(since:epoch:filter:limit:)`` tells it so.
  ///
  /// Refused once a peer has read anything of the import, and once anything else has changed the store: then only deleting is
  /// left, which travels.
  ///
  /// - Parameter isDryRun: says what it would do.
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
