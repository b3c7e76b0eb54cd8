import PeerTrust
import Synchronization

/// A broadcaster of the pairing desk's events to any number of listeners.
public final class PairingEvents: Sendable {
  private struct State {
    var next = 0
    var listeners: [Int: AsyncStream<PairingEvent>.Continuation] = [:]
  }

  private let state = Mutex(State())

  /// Creates a broadcaster without listeners.
  public init() {}

  /// Sends an event to all current listeners. Never blocks: a listener with 64 unread events loses its oldest.
  public func send(_ event: PairingEvent) {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
  }

  /// Returns a stream of the events from now on. It ends with the listener's task.
  public func listen() -> AsyncStream<PairingEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: PairingEvent.self, bufferingPolicy: .bufferingNewest(64))
    let key = state.withLock { state in
      state.next += 1
      state.listeners[state.next] = continuation
      return state.next
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.listeners.removeValue(forKey: key) }
    }
    return stream
  }

  /// Ends all streams.
  public func finish() {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
  }
}
