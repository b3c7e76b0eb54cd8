import NIOCore
import Synchronization

/// The channels of one attempt to connect. A cancelled task or an expired time limit closes them all at once.
final class ConnectAttempt: Sendable {
  private struct State {
    var channels: [any Channel] = []
    var isCancelled = false
    var isExpired = false
    var hasSucceeded = false
  }

  private let state = Mutex(State())

  /// Adds a channel.
  ///
  /// - Throws: `CancellationError` if the attempt has been cancelled.
  func add(_ channel: any Channel) throws {
    let isCancelled = state.withLock { state in
      state.channels.append(channel)
      return state.isCancelled
    }
    if isCancelled { throw CancellationError() }
  }

  func cancel() {
    let channels = state.withLock { state in
      state.isCancelled = true
      return state.channels
    }
    for channel in channels { channel.close(promise: nil) }
  }

  /// Cancels the attempt because the handshake limit is over, unless the handshake has succeeded.
  func expire() {
    let hasSucceeded = state.withLock { state in
      if !state.hasSucceeded { state.isExpired = true }
      return state.hasSucceeded
    }
    if !hasSucceeded { cancel() }
  }

  var isExpired: Bool { state.withLock(\.isExpired) }

  /// Notes that the handshake has succeeded. Returns false if the time limit was over before.
  func succeed() -> Bool {
    state.withLock { state in
      if !state.isExpired { state.hasSucceeded = true }
      return state.hasSucceeded
    }
  }
}
