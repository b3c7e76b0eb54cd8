import Dispatch
import GRDB
import OperatingSystem
import Synchronization

/// Notices that a store's counter has moved, whichever process moved it: one for all who wait for one ``HealthStore``.
///
/// Somebody writes the write-ahead log, or this process has committed: that is a hint, and the counter decides. It is read
/// once for all who wait, at most every ``Timing/spacing``, and every ``Timing/idle`` without any hint; every
/// ``Timing/unreported`` on file systems that report nothing. The first who waits starts all this, and it ends soon after
/// the last.
final class StoreWatch: Sendable {
  typealias Continuation = CheckedContinuation<Void, any Error>

  enum Timing {
    /// Between two reads of the counter, at least. The log is written before its transaction counts, so the first reads
    /// after a hint may come too early: the time between them doubles from here.
    static let spacing = Duration.milliseconds(5)
    /// Between two reads of the counter when there is no hint. Each wakes threads, and nearly all find nothing.
    static let idle = Duration.seconds(5)
    /// The same where no hint came of the last commit.
    static let unreported = Duration.seconds(1)
    /// Between two times that those who wait are woken, at least: an import commits many times a second.
    static let rest = Duration.milliseconds(50)
    /// What each who was woken adds to it, so that hundreds cause no storm.
    static let restPerWaiter = Duration.milliseconds(2)
  }

  private struct State {
    var waiters: [UInt64: (after: Int64, continuation: Continuation)] = [:]
    var nextWaiter: UInt64 = 0
    var isRunning = false
    var activity: FileActivity?
    /// Whether hints come of what other processes commit.
    var isReported = true
    /// This process has, since the counter was last read.
    var hasCommitted = false
    /// The counter when it was last read.
    var seen: Int64?
    /// When the counter is to be read next; `nil` while nothing is scheduled.
    var due: ContinuousClock.Instant?
    var earliest = ContinuousClock.now
    /// Until the next read, since there was a hint. Also when something has come of it: two transactions may follow each
    /// other so closely that they are one hint.
    var retry: Duration?
    /// When somebody last waited.
    var lastUse = ContinuousClock.now
    var reads = 0

    var idle: Duration { isReported ? Timing.idle : Timing.unreported }
  }

  private let pool: DatabasePool
  private let log: String
  private let queue = DispatchQueue(label: "hpeer.store.watch")
  private let state = Mutex(State())

  /// - Parameter log: the write-ahead log of `pool`'s database.
  init(_ pool: DatabasePool, log: String) {
    self.pool = pool
    self.log = log
  }

  deinit {
    // Belongs to the queue, and nothing can wait any more.
    if let activity = state.withLock({ $0.activity }) { queue.async { activity.cancel() } }
  }

  /// How often the counter has been read.
  var reads: Int { state.withLock(\.reads) }
  /// Whether the counter is being watched.
  var isRunning: Bool { state.withLock(\.isRunning) }
  /// Whether the file system tells, as far as is known, what other processes write.
  var isReported: Bool { state.withLock(\.isReported) }
  /// Tasks that wait for a change.
  var waiting: Int { state.withLock(\.waiters.count) }

  /// Returns as soon as the counter is another than `counter`, and perhaps earlier. Throws `CancellationError`.
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

  /// A transaction of this process has been committed.
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

  /// Has the counter read in a while, or earlier if that is planned already.
  private func plan(_ state: inout State, in duration: Duration) {
    let instant = max(.now + duration, state.earliest)
    // One that is long due is late: the queue's clock stands still while the machine sleeps.
    if let due = state.due, due <= instant, due > .now - .milliseconds(100) { return }
    state.due = instant
    let nanoseconds = max(0, (instant - .now) / .nanoseconds(1))
    queue.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) { [weak self] in self?.look() }
  }

  private func look() {
    let newest: UInt64? = state.withLock { state in
      // Another read was planned for an earlier instant, and has been. Two clocks need not agree to the nanosecond.
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

  /// - Parameters:
  ///   - counter: `nil` where it cannot be read. Whoever waits then learns why when reading.
  ///   - newest: the last who began to wait before the counter was read.
  private func finish(_ state: inout State, counter: Int64?, newest: UInt64) -> [Continuation] {
    state.earliest = .now + Timing.spacing
    if let seen = state.seen, let counter, counter != seen, !state.hasCommitted {
      state.isReported = state.retry != nil
    }
    state.hasCommitted = false
    state.seen = counter
    // A counter that has gone back, as after a restore, is told from one that was read too early.
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
