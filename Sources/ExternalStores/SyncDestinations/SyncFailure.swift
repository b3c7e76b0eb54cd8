/// The meaning of an error of a ``SyncDestination`` for the next attempt.
public struct SyncFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure, which tells whether another attempt may succeed.
  public enum Category: String, Hashable, Sendable {
    /// A failure that may resolve itself later.
    case transient
    /// A failure that a person must fix first.
    case permanent
    /// A partial success. All points are delivered again.
    case partial
    /// A deferral, for example because there is no network.
    case deferred
  }

  /// The category, which decides whether the delivery is retried.
  public var category: Category
  /// A sentence that describes the failure.
  public var message: String
  /// The action that a person can take, or `nil` if there is none.
  public var recovery: String?

  public var description: String { recovery.map { "\(message) \($0)" } ?? message }

  /// Creates a failure.
  ///
  /// - Parameter message: a sentence without secrets or values.
  public init(_ category: Category, message: String, recovery: String? = nil) {
    self.category = category
    self.message = message
    self.recovery = recovery
  }

  /// Classifies an error: a ``SyncFailure`` is returned unchanged, a cancellation is `deferred`, a
  /// ``SyncDestinationError`` is `permanent`, and any other error is `transient`.
  public static func classifyNetworkError(_ error: any Error) -> SyncFailure {
    switch error {
    case let failure as SyncFailure: failure
    case is CancellationError: SyncFailure(.deferred, message: "It was interrupted.")
    case let error as SyncDestinationError: SyncFailure(.permanent, message: "\(error)")
    default: SyncFailure(.transient, message: "\(error)")
    }
  }
}

/// The reason why nothing can be delivered to a ``SyncDestination``.
public enum SyncDestinationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The type implements neither ``SyncDestination/sync(data:)`` nor ``SyncDestination/sync(data:onProgress:)``.
  ///
  /// - Parameter name: the destination's name.
  case noSync(String)
  /// The destination is given everything at once, which exceeds the maximum number of points.
  ///
  /// - Parameter limit: the maximum number of points.
  case tooManyPoints(name: String, limit: Int)

  public var description: String {
    switch self {
    case .noSync(let name): "The destination \(name) has no function sync: write one of the two."
    case .tooManyPoints(let name, let limit):
      """
      The destination \(name) is given everything at once, and that is more than \(limit) samples: select types or a \
      time, or have it declare that it supports what is incremental.
      """
    }
  }
}
