/// A delegate that controls observers and is informed of their results.
public protocol QueryObserverDelegate: Sendable {
  /// Returns the maximum number of changes in a batch, or `nil` for ``QueryObserver/defaultBatchSize``.
  func batchSize(for observer: QueryObserver) async -> Int?

  /// Returns whether pending changes may be delivered now. If not, they are delivered with the next change or the
  /// next ``QueryObserver/execute()``.
  func shouldExecute(for observer: QueryObserver) async -> Bool

  /// Called when all pending changes were delivered or an error occurred. In ``QueryObserver/observe()``, failures
  /// are retried automatically.
  func didFinishExecution(for observer: QueryObserver, error: (any Error)?) async
}

extension QueryObserverDelegate {
  /// Returns `nil`, which means ``QueryObserver/defaultBatchSize``.
  public func batchSize(for observer: QueryObserver) async -> Int? { nil }
  /// Returns true.
  public func shouldExecute(for observer: QueryObserver) async -> Bool { true }
  /// Does nothing.
  public func didFinishExecution(for observer: QueryObserver, error: (any Error)?) async {}
}
