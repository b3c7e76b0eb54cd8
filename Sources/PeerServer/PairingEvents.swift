import PeerTrust
import Synchronization

/// Hands every event of the pairing desk to everyone who listens.
public final class PairingEvents: Sendable {
  private struct State {
    var next = 0
    var listeners: [Int: AsyncStream<PairingEvent>.Continuation] = [:]
  }

  private let state = Mutex(State())

  /// Nobody listens yet.
  public init() {}

  /// Hands an event to all who listen now. Never blocks: a listener that has 64 unread loses its oldest.
  public func send(_ event: PairingEvent) {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
  }

  /// Events from now on. Ends when the listener's task does.
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
