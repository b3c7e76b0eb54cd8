import NIOConcurrencyHelpers
import NIOCore

/// The channels of one attempt to connect, so that a cancelled task ends them all instead of waiting for the network.
final class ConnectAttempt: Sendable {
  private struct State {
    var channels: [any Channel] = []
    var isCancelled = false
  }

  private let state = NIOLockedValueBox(State())

  /// - Throws: `CancellationError` if it is too late for another one.
  func add(_ channel: any Channel) throws {
    let isCancelled = state.withLockedValue { state in
      state.channels.append(channel)
      return state.isCancelled
    }
    if isCancelled { throw CancellationError() }
  }

  func cancel() {
    let channels = state.withLockedValue { state in
      state.isCancelled = true
      return state.channels
    }
    for channel in channels { channel.close(promise: nil) }
  }
}
