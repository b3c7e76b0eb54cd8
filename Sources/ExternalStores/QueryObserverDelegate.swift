/// Is asked by observers, and told how they fare.
public protocol QueryObserverDelegate: Sendable {
  /// The most changes of a batch; `nil` for ``QueryObserver/defaultBatchSize``.
  func batchSize(for observer: QueryObserver) async -> Int?

  /// Whether what is new may be passed on now. If not, it comes with the next change, or the next
  /// ``QueryObserver/execute()``.
  func shouldExecute(for observer: QueryObserver) async -> Bool

  /// Everything that was new was passed on, or something failed. An observer that is observing tries that again by itself.
  func didFinishExecution(for observer: QueryObserver, error: (any Error)?) async
}

extension QueryObserverDelegate {
  /// ``QueryObserver/defaultBatchSize``.
  public func batchSize(for observer: QueryObserver) async -> Int? { nil }
  /// It may.
  public func shouldExecute(for observer: QueryObserver) async -> Bool { true }
  /// Does nothing.
  public func didFinishExecution(for observer: QueryObserver, error: (any Error)?) async {}
}
