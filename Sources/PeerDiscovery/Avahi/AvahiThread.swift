import CAvahi
import Foundation
import Synchronization

/// A dedicated thread for one Avahi session, because libavahi-client makes blocking calls to D-Bus.
///
/// Every C object is created, used and freed on this thread. Other threads may only call ``stop()`` and ``wake()``,
/// which write to an eventfd. (Avahi's own wake-up can be lost between two iterations of its loop.)
final class AvahiThread: Sendable {
  private struct Control {
    /// The eventfd, while the thread runs.
    var bell: Int32?
    var isStopped = false
    var waiter: CheckedContinuation<DiscoveryError?, Never>?
  }

  /// The time for which a cancelled caller waits for a thread in a blocking D-Bus call (libdbus waits 25 s).
  private static let patience = Duration.seconds(3)

  private let control = Mutex(Control())
  private let clock: any Clock<Duration>

  init(clock: any Clock<Duration> = ContinuousClock()) {
    self.clock = clock
  }

  /// Runs a session until the calling task is cancelled or the session throws. All resources are then freed, except
  /// while avahi-daemon hangs: the thread frees them later.
  func run(_ makeSession: @escaping @Sendable () -> any AvahiSession) async throws(DiscoveryError) {
    let error = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        control.withLock { $0.waiter = continuation }
        let thread = Thread { [self] in
          var failure: DiscoveryError?
          do throws(DiscoveryError) { try serve(makeSession()) } catch { failure = error }
          resume(with: failure)
        }
        thread.name = "avahi"
        thread.start()
      }
    } onCancel: {
      stop()
      Task.detached { [self] in
        try? await clock.sleep(for: Self.patience)
        resume(with: nil)
      }
    }
    if let error { throw error }
  }

  /// Makes the session end soon. May be called from any thread.
  func stop() {
    control.withLock {
      $0.isStopped = true
      Self.ring($0.bell)
    }
  }

  /// Makes the session take a step soon. May be called from any thread.
  func wake() {
    control.withLock { Self.ring($0.bell) }
  }

  private static func ring(_ bell: Int32?) {
    guard let bell else { return }
    var one: UInt64 = 1
    // The write fails only if the counter is full, and then the loop wakes up anyway.
    _ = write(bell, &one, MemoryLayout.size(ofValue: one))
  }

  private func resume(with error: DiscoveryError?) {
    let waiter = control.withLock { control in
      defer { control.waiter = nil }
      return control.waiter
    }
    waiter?.resume(returning: error)
  }

  private var isStopped: Bool { control.withLock { $0.isStopped } }

  // MARK: On the thread

  private func serve(_ session: any AvahiSession) throws(DiscoveryError) {
    let bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard bell >= 0 else { throw .outOfResources }
    control.withLock { $0.bell = bell }
    defer {
      control.withLock { $0.bell = nil }
      close(bell)
    }
    let loop = try AvahiLoop(bell: bell)
    try converse(session, on: loop)
  }

  /// Connects, and reconnects whenever the connection breaks.
  private func converse(_ session: any AvahiSession, on loop: AvahiLoop) throws(DiscoveryError) {
    var pause = ReconnectionPause()
    while !isStopped {
      let start = ContinuousClock.now
      let connection = AvahiConnection(loop: loop, session: session)
      let reason = try connection.serve(while: { !isStopped })
      guard let reason else { return }
      try session.connectionBroke(reason)
      let end = ContinuousClock.now + pause.next(after: start.duration(to: .now))
      while !isStopped, ContinuousClock.now < end {
        try loop.iterate(for: ContinuousClock.now.duration(to: end))
      }
    }
  }
}
