/// Is told what an operation is at, for whoever waits: a progress bar, a page, nobody.
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
  /// A stage has begun. It ends with ``StageObserver/finish()``; others may begin before that.
  func begin(_ stage: ProgressStage) -> any StageObserver
}

/// A part of an operation that may take long.
public struct ProgressStage: Hashable, Sendable {
  /// What is being done, for whoever puts it into words.
  public enum Work: Hashable, Sendable {
    /// Looking a file over before anything of it is taken.
    case checking
    /// Reading a file and writing what is new in it.
    case importing
    /// Looking for what is deleted here and in the file.
    case looking
    /// Reading the file again, and bringing back what was found.
    case restoring
    /// Writing the store's samples to a file or stream.
    case exporting
    /// Writing a backup.
    case backingUp
    /// Reading a backup.
    case unpacking
    /// A peer's name, as it says it.
    case pulling(from: String)
    /// Comparing the record with that of a peer, of this name as the peer says it.
    case verifying(with: String)
  }

  public var work: Work
  /// `nil` while unknown.
  public var totalItems: Int?
  /// What progress goes by while the number of items is unknown.
  public var totalBytes: Int?
  /// How long nothing may come before the operation gives up; `nil` where it waits for nobody.
  public var patience: Duration?

  /// - Parameters: what is not given is not known, and without `patience` the operation waits for nobody.
  public init(_ work: Work, totalItems: Int? = nil, totalBytes: Int? = nil, patience: Duration? = nil) {
    self.work = work
    self.totalItems = totalItems
    self.totalBytes = totalBytes
    self.patience = patience
  }
}

/// How far a stage is. Called from any thread, and with every batch: what is expensive must be done now and then only.
public protocol StageObserver: Sendable {
  /// Says how many items there are in all, which may be said again as more is known; `nil` for unknown.
  func setTotal(items: Int?)
  /// Adds to what is done.
  func advance(items: Int, bytes: Int)
  /// Says how much is done in all.
  func update(items: Int, bytes: Int)
  /// Says how many bytes have come in all, which may be long before they make another item.
  func update(bytes: Int)
  /// Something has come, though none of the numbers has changed yet.
  func hear()
  /// May be called again.
  func finish()
}

/// For operations that nobody watches.
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
