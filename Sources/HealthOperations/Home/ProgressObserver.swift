/// An observer of an operation's progress, such as a progress bar.
///
/// ```swift
/// struct Names: ProgressObserver {
///   func begin(_ stage: ProgressStage) -> any StageObserver {
///     print(stage.work, stage.totalItems.map(String.init) ?? "?")
///     return NoProgress().begin(stage)
///   }
/// }
/// ```
public protocol ProgressObserver: Sendable {
  /// Called when a stage begins. It ends with ``StageObserver/finish()``; other stages may begin before that.
  func begin(_ stage: ProgressStage) -> any StageObserver
}

/// A part of an operation that may take a long time.
public struct ProgressStage: Hashable, Sendable {
  /// The kind of work in a stage, from which an observer makes a text.
  public enum Work: Hashable, Sendable {
    /// Checking a file before anything is imported.
    case checking
    /// Reading a file and writing its new samples.
    case importing
    /// Searching a file for samples that are deleted here.
    case looking
    /// Reading the file again and restoring the deleted samples that were found.
    case restoring
    /// Writing the store's samples to a file or stream.
    case exporting
    /// Writing a backup.
    case backingUp
    /// Reading a backup.
    case unpacking
    /// Pulling from the peer that calls itself by this name.
    case pulling(from: String)
    /// Comparing the record with that of the peer that calls itself by this name.
    case verifying(with: String)
  }

  public var work: Work
  /// The expected number of items; `nil` while unknown.
  public var totalItems: Int?
  /// The expected number of bytes, used to report progress while ``totalItems`` is `nil`.
  public var totalBytes: Int?
  /// The time limit for a silent peer, after which the operation gives up; `nil` if the operation waits for no peer.
  public var patience: Duration?

  /// Creates a stage.
  ///
  /// - Parameters:
  ///   - totalItems: `nil` if unknown.
  ///   - totalBytes: `nil` if unknown.
  ///   - patience: `nil` if the operation waits for no other machine.
  public init(_ work: Work, totalItems: Int? = nil, totalBytes: Int? = nil, patience: Duration? = nil) {
    self.work = work
    self.totalItems = totalItems
    self.totalBytes = totalBytes
    self.patience = patience
  }
}

/// An observer of one stage. It is called from any thread and with every batch, so expensive work must be throttled.
public protocol StageObserver: Sendable {
  /// Sets the expected number of items, `nil` if unknown. It may change as more becomes known.
  func setTotal(items: Int?)
  /// Adds to the numbers of finished items and bytes.
  func advance(items: Int, bytes: Int)
  /// Sets the total numbers of finished items and bytes.
  func update(items: Int, bytes: Int)
  /// Sets the total number of bytes received, which may grow long before another item is finished.
  func update(bytes: Int)
  /// Notes that data has arrived, although none of the numbers has changed yet.
  func hear()
  /// Ends the stage. It may be called more than once.
  func finish()
}

/// An observer that does nothing.
public struct NoProgress: ProgressObserver {
  private struct Stage: StageObserver {
    func setTotal(items: Int?) {}
    func advance(items: Int, bytes: Int) {}
    func update(items: Int, bytes: Int) {}
    func update(bytes: Int) {}
    func hear() {}
    func finish() {}
  }

  public init() {}

  public func begin(_ stage: ProgressStage) -> any StageObserver { Stage() }
}
