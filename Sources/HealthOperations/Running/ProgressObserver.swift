/// Is told what an operation is at, for whoever waits: a progress bar, a page, nobody.
///
///     struct Bars: ProgressObserver {
///       func begin(_ stage: ProgressStage) -> any StageObserver { ProgressBar(stage) }
///     }
public protocol ProgressObserver: Sendable {
  /// A stage has begun. It ends with ``StageObserver/finish()``; others may begin before that.
  func begin(_ stage: ProgressStage) -> any StageObserver
}

/// A part of an operation that may take long.
public struct ProgressStage: Hashable, Sendable {
  public enum Work: Hashable, Sendable {
    /// Looking a file over before anything of it is taken.
    case checking
    case importing
    /// Looking for what is deleted here and in the file.
    case looking
    case restoring
    case exporting
    /// A peer's name, as it says it.
    case pulling(from: String)
    case verifying(with: String)
  }

  public var work: Work
  /// `nil` while unknown.
  public var totalItems: Int?
  /// What progress goes by while the number of items is unknown.
  public var totalBytes: Int?
  /// How long nothing may come before the operation gives up; `nil` where it waits for nobody.
  public var patience: Duration?

  public init(_ work: Work, totalItems: Int? = nil, totalBytes: Int? = nil, patience: Duration? = nil) {
    self.work = work
    self.totalItems = totalItems
    self.totalBytes = totalBytes
    self.patience = patience
  }
}

/// How far a stage is. Called from any thread, and with every batch: what is expensive must be done now and then only.
public protocol StageObserver: Sendable {
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
