import Synchronization

/// A counter of requests to reload the settings, such as SIGHUP, that notifies its listeners.
public final class Reloads: Sendable {
  private struct State {
    var count = 0
    var nextListener = 0
    var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
  }

  private let state = Mutex(State())

  public init() {}

  public func request() {
    let listeners = state.withLock { state in
      state.count += 1
      return state.listeners.values
    }
    for listener in listeners { listener.yield() }
  }

  var current: Int { state.withLock(\.count) }

  /// Returns a stream that yields at each request from now on and buffers at most one element.
  func hints() -> AsyncStream<Void> {
    let (hints, hint) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.nextListener += 1
      state.listeners[state.nextListener] = hint
      return state.nextListener
    }
    hint.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners[number] = nil } }
    return hints
  }
}

/// A box for the value that was last read successfully.
final class LastValidValue<Value: Sendable>: Sendable {
  private let state: Mutex<Value>

  init(_ value: Value) { state = Mutex(value) }

  var value: Value {
    get { state.withLock(\.self) }
    set { state.withLock { $0 = newValue } }
  }
}
