import Synchronization

/// A clock whose time moves only when ``advance(by:)`` is called.
public final class ManualClock: Clock {
  public struct Instant: InstantProtocol {
    fileprivate var time: Duration

    public func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }
    public func duration(to other: Instant) -> Duration { other.time - time }
    public static func < (first: Instant, second: Instant) -> Bool { first.time < second.time }
  }

  private struct State {
    var time = Duration.zero
    var sleepers: [Int: (deadline: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var next = 0
  }

  private let state = Mutex(State())

  public init() {}

  public var now: Instant { Instant(time: state.withLock(\.time)) }
  public var minimumResolution: Duration { .nanoseconds(1) }
  /// The number of tasks that are sleeping.
  public var sleepers: Int { state.withLock(\.sleepers.count) }

  public func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.time += duration
      let due = state.sleepers.filter { $0.value.deadline <= state.time }
      for id in due.keys { state.sleepers[id] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume() }
  }

  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let answer: Result<Void, any Error>? = state.withLock { state in
          // Under the lock: a cancellation is seen either here or by the handler below.
          if Task.isCancelled { return .failure(CancellationError()) }
          if deadline.time <= state.time { return .success(()) }
          state.sleepers[id] = (deadline.time, continuation)
          return nil
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
    }
  }
}
