/// What an error of a ``SyncDestination`` means for the next attempt.
public struct SyncFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// Whether another attempt may help.
  public enum Category: String, Hashable, Sendable {
    /// It may succeed later by itself.
    case transient
    /// A person must change something first.
    case permanent
    /// Some of it was taken; all of it comes again.
    case partial
    /// It was put off, such as for want of a network.
    case deferred
  }

  /// Decides whether it is tried again.
  public var category: Category
  /// What happened, in a sentence.
  public var message: String
  /// What a person can do; `nil` where nothing is to be done.
  public var recovery: String?

  public var description: String { recovery.map { "\(message) \($0)" } ?? message }

  /// - Parameter message: a sentence without secrets or values.
  public init(_ category: Category, message: String, recovery: String? = nil) {
    self.category = category
    self.message = message
    self.recovery = recovery
  }

  /// Takes an error for what passes: `deferred` where the task was cancelled, itself if it is a ``SyncFailure``, and
  /// else
  /// `transient`.
  public static func classifyNetworkError(_ error: any Error) -> SyncFailure {
    switch error {
    case let failure as SyncFailure: failure
    case is CancellationError: SyncFailure(.deferred, message: "It was interrupted.")
    case let error as SyncDestinationError: SyncFailure(.permanent, message: "\(error)")
    default: SyncFailure(.transient, message: "\(error)")
    }
  }
}

/// Why nothing can be passed on to a ``SyncDestination``.
public enum SyncDestinationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Its type has neither ``SyncDestination/sync(data:)`` nor ``SyncDestination/sync(data:onProgress:)``.
  ///
  /// - Parameter name: the destination's.
  case noSync(String)
  /// It is given everything at once, and that is more than it shall be given.
  ///
  /// - Parameter limit: in points.
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
