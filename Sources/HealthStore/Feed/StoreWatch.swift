import Dispatch
import GRDB
import OperatingSystem
import Synchronization

/// A watch that detects changes of a store's counter by any process. One object serves all waiting tasks of a
/// ``HealthStore``.
///
/// A write to the write-ahead log or a commit of this process is a hint; the counter decides. The counter is read
/// once for all waiting tasks: at most every ``Timing/spacing``, every ``Timing/idle`` without a hint, and every
/// ``Timing/unreported`` on file systems that report no events. Watching starts with the first waiting task, and ends
/// soon after the last.
final class StoreWatch: Sendable {
  typealias Continuation = CheckedContinuation<Void, any Error>

  enum Timing {
    /// The minimum time between two reads of the counter. The log is written before its transaction is visible, so
    /// the first reads after a hint may come too early: the interval doubles from this value.
    static let spacing = Duration.milliseconds(5)
    /// The time between two reads of the counter without a hint. Each read wakes threads, and nearly all find
    /// nothing.
    static let idle = Duration.seconds(5)
    /// The time between two reads of the counter if no hint came for the last commit.
    static let unreported = Duration.seconds(1)
    /// The minimum time between two wake-ups, because an import commits many times a second.
    static let rest = Duration.milliseconds(50)
    /// The time that each woken task adds to the pause, so that hundreds of tasks do not all read at once.
    static let restPerWaiter = Duration.milliseconds(2)
  }

  private struct State {
    var waiters: [UInt64: (after: Int64, continuation: Continuation)] = [:]
    var nextWaiter: UInt64 = 0
    var isRunning = false
    var activity: FileActivity?
    /// Whether the commits of other processes cause hints.
    var isReported = true
    /// Whether this process has committed since the counter was last read.
    var hasCommitted = false
    /// The counter when it was last read.
    var seen: Int64?
    /// The time of the next read of the counter, or `nil` if none is scheduled.
    var due: ContinuousClock.Instant?
    var earliest = ContinuousClock.now
    /// The pause before the next read after a hint, or `nil` without a hint. It stays set after a change was found,
    /// because one hint can stand for two transactions in quick succession.
    var retry: Duration?
    /// The last time at which a task waited.
    var lastUse = ContinuousClock.now
    var reads = 0

    var idle: Duration { isReported ? Timing.idle : Timing.unreported }
  }

  private let pool: DatabasePool
  private let log: String
  private let queue = DispatchQueue(label: "hpeer.store.watch")
  private let state = Mutex(State())

  /// Creates a watch that has not started. `log` is the path of the write-ahead log of `pool`'s database.
  init(_ pool: DatabasePool, log: String) {
    self.pool = pool
    self.log = log
  }

  deinit {
    // The activity belongs to the queue, and no task can wait any more.
    if let activity = state.withLock({ $0.activity }) { queue.async { activity.cancel() } }
  }

  /// The number of times that the counter has been read.
  var reads: Int { state.withLock(\.reads) }
  /// Whether the counter is being watched.
  var isRunning: Bool { state.withLock(\.isRunning) }
  /// Whether the file system reports what other processes write, as far as is known.
  var isReported: Bool { state.withLock(\.isReported) }
  /// The number of tasks that wait for a change.
  var waiting: Int { state.withLock(\.waiters.count) }

  /// Waits until the counter differs from `counter`, or returns earlier. Throws `CancellationError`.
  func wait(after counter: Int64) async throws {
    let id = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let answer: Result<Void, any Error>? = state.withLock { state in
          // Under the lock: a cancellation is seen either here or by the handler below.
          if Task.isCancelled { return .failure(CancellationError()) }
          state.lastUse = .now
          if state.isRunning, let seen = state.seen, seen > counter { return .success(()) }
          state.waiters[id] = (counter, continuation)
          if !state.isRunning {
            state.isRunning = true
            queue.async { [weak self] in self?.start() }
          }
          return nil
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.lastUse = .now
        return state.waiters.removeValue(forKey: id)
      }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Records that this process has committed a transaction.
  func committed() {
    state.withLock { state in
      guard state.isRunning else { return }
      state.hasCommitted = true
      plan(&state, in: .zero)
    }
  }

  // MARK: On the queue

  private func start() {
    let activity = FileActivity(of: log, pausing: Timing.spacing, on: queue) { [weak self] in self?.logWasWritten() }
    state.withLock { state in
      state.activity = activity
      state.isReported = activity != nil
      state.seen = nil
      plan(&state, in: .zero)
    }
  }

  private func logWasWritten() {
    state.withLock { state in
      state.retry = Timing.spacing
      plan(&state, in: .zero)
    }
  }

  /// Schedules a read of the counter after a duration, unless an earlier read is already scheduled.
  private func plan(_ state: inout State, in duration: Duration) {
    let instant = max(.now + duration, state.earliest)
    // A read that is long overdue is late because the queue's clock stops while the machine sleeps.
    if let due = state.due, due <= instant, due > .now - .milliseconds(100) { return }
    state.due = instant
    let nanoseconds = max(0, (instant - .now) / .nanoseconds(1))
    queue.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) { [weak self] in self?.look() }
  }

  private func look() {
    let newest: UInt64? = state.withLock { state in
      // An earlier read has replaced this one. Two clocks need not agree to the nanosecond.
      guard let due = state.due, due <= .now + .milliseconds(1) else { return nil }
      state.due = nil
      if state.waiters.isEmpty, state.lastUse + Timing.unreported < .now {
        stop(&state)
        return nil
      }
      state.reads += 1
      return state.nextWaiter
    }
    guard let newest else { return }
    let counter = try? pool.read { db in try Binding(db, "SELECT counter FROM store").integer(db) }
    let woken = state.withLock { state in finish(&state, counter: counter ?? nil, newest: newest) }
    for continuation in woken { continuation.resume() }
  }

  private func stop(_ state: inout State) {
    state.activity?.cancel()
    state.activity = nil
    state.isRunning = false
    state.retry = nil
  }

  /// Processes a read of the counter, schedules the next read, and returns the continuations to resume.
  ///
  /// - Parameters:
  ///   - counter: `nil` if it cannot be read. Waiting tasks are then woken, and get the error when they read.
  ///   - newest: the identifier of the last task that began to wait before the counter was read.
  private func finish(_ state: inout State, counter: Int64?, newest: UInt64) -> [Continuation] {
    state.earliest = .now + Timing.spacing
    if let seen = state.seen, let counter, counter != seen, !state.hasCommitted {
      state.isReported = state.retry != nil
    }
    state.hasCommitted = false
    state.seen = counter
    // A counter that has gone back, as after a restore, differs from a counter that was read too early.
    let woken = state.waiters.filter { id, waiter in
      guard let counter else { return true }
      return counter > waiter.after || (counter < waiter.after && id <= newest)
    }
    for id in woken.keys { state.waiters[id] = nil }
    if !woken.isEmpty {
      state.lastUse = .now
      state.earliest = .now + max(Timing.rest, Timing.restPerWaiter * woken.count)
    }
    if let retry = state.retry, retry < state.idle {
      state.retry = retry * 2
      plan(&state, in: retry)
    } else {
      state.retry = nil
      plan(&state, in: state.idle)
    }
    return woken.values.map(\.continuation)
  }
}
