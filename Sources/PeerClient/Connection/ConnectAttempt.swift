import NIOCore
import Synchronization

/// The channels of one attempt to connect, so that a cancelled task, or time that is over, ends them all instead of
/// waiting for the network.
final class ConnectAttempt: Sendable {
  private struct State {
    var channels: [any Channel] = []
    var isCancelled = false
    var isExpired = false
    var hasSucceeded = false
  }

  private let state = Mutex(State())

  /// - Throws: `CancellationError` if it is too late for another one.
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

  /// The time for the handshake is over. Does nothing if it has come about.
  func expire() {
    let hasSucceeded = state.withLock { state in
      if !state.hasSucceeded { state.isExpired = true }
      return state.hasSucceeded
    }
    if !hasSucceeded { cancel() }
  }

  var isExpired: Bool { state.withLock(\.isExpired) }

  /// The handshake has come about; false if it is too late for that.
  func succeed() -> Bool {
    state.withLock { state in
      if !state.isExpired { state.hasSucceeded = true }
      return state.hasSucceeded
    }
  }
}
