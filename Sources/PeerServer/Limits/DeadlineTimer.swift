import NIOCore

/// A timer for a deadline that moves often and expires rarely. Bound to its event loop.
final class DeadlineTimer {
  private let eventLoop: NIOIsolatedEventLoop
  private let passed: () -> Void
  private var deadline: NIODeadline?
  private var scheduled: (task: Scheduled<Void>, at: NIODeadline)?

  /// - Parameter passed: called on `eventLoop`, which must be the current event loop.
  init(_ eventLoop: any EventLoop, passed: @escaping () -> Void) {
    self.eventLoop = eventLoop.assumeIsolated()
    self.passed = passed
  }

  func set(_ duration: Duration) {
    let deadline = NIODeadline.now() + TimeAmount(duration)
    self.deadline = deadline
    // A task that fires too early reschedules itself, so only a task that would fire too late is replaced.
    if let scheduled {
      guard deadline < scheduled.at else { return }
      scheduled.task.cancel()
    }
    schedule(at: deadline)
  }

  func cancel() {
    deadline = nil
    scheduled?.task.cancel()
    scheduled = nil
  }

  private func schedule(at instant: NIODeadline) {
    scheduled = (eventLoop.scheduleTask(deadline: instant) { self.look() }, instant)
  }

  private func look() {
    scheduled = nil
    guard let deadline else { return }
    if NIODeadline.now() < deadline { return schedule(at: deadline) }
    self.deadline = nil
    passed()
  }
}
