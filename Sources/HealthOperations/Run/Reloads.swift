import Synchronization

/// Counts the requests to reload the settings, as by SIGHUP, and notifies those who listen.
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

  /// Yields at each request from now on; buffers one element at most.
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

/// What was read last, for when it cannot be read any more.
final class LastReadable<Value: Sendable>: Sendable {
  private let state: Mutex<Value>

  init(_ value: Value) { state = Mutex(value) }

  var value: Value {
    get { state.withLock(\.self) }
    set { state.withLock { $0 = newValue } }
  }
}
