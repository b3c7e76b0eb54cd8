import HealthModel

/// What undoing an import did, or would do.
public struct ImportUndo: Hashable, Sendable {
  /// The file's name.
  public var name: String
  /// When the import began.
  public var started: Timestamp
  /// Samples that the import had added.
  public var removed: [SampleType: Int]
  /// Samples that it had deleted, or replaced.
  public var restored: [SampleType: Int]
}

/// Why the last import cannot be undone.
public enum UndoRefusal: Hashable, Sendable {
  /// There is no import to undo, or it has been undone.
  case noImport
  /// An import is running.
  case running
  /// The store has changed since, or did so meanwhile.
  ///
  /// - Parameter events: what the audit log has of that.
  case changedSince(name: String, events: [AuditRecord])
  /// Peers have what it brought.
  ///
  /// - Parameter peers: their names, each once.
  case read(name: String, peers: [String])
  /// The audit log has been pruned since, and does not say who has read.
  case unknownReaders(name: String)
}

/// See ``HealthStore/Imports/undoLast(isDryRun:)``.
public enum UndoOutcome: Hashable, Sendable {
  /// The import is taken back, or would be.
  case undone(ImportUndo)
  /// Nothing was changed.
  case refused(UndoRefusal)
}
