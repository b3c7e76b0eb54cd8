import Foundation
import Glibc

/// The service manager that started this process and expects notifications, such as systemd. Implements the protocol
/// of sd_notify(3), so that no library of systemd is needed.
///
/// ```swift
/// guard let manager = ServiceManager() else { return }
/// await manager.tell(.ready(status: "Serving on port 8443"))
/// ```
public struct ServiceManager: Sendable {
  /// A notification to the service manager.
  public enum Notice: Hashable, Sendable {
    /// The service is running, for the first time or again after ``reloading(at:)``.
    ///
    /// - Parameter status: a line for people.
    case ready(status: String)
    /// The service is reading its settings again.
    ///
    /// - Parameter at: the current time, from ``ServiceManager/monotonicNow()``.
    case reloading(at: Duration)
    /// The service is stopping.
    case stopping
    /// The service is still responsive, as ``ServiceManager/watchdog`` requires.
    case alive
  }

  /// The time after which the manager considers the service hung unless it receives ``Notice/alive``; `nil` if it has
  /// no watchdog.
  public let watchdog: Duration?
  private let address: UnixAddress

  /// Creates a connection to the service manager; `nil` if `NOTIFY_SOCKET` is unset or is not a valid socket address.
  public init?(
    environment: [String: String] = ProcessInfo.processInfo.environment, process: pid_t = getpid()
  ) {
    guard let name = environment["NOTIFY_SOCKET"], let address = UnixAddress(name) else { return nil }
    self.address = address
    watchdog = Self.watchdog(environment, process)
  }

  /// Returns the watchdog interval, or nil if none is set for this process.
  private static func watchdog(_ environment: [String: String], _ process: pid_t) -> Duration? {
    if let watched = environment["WATCHDOG_PID"], pid_t(watched) != process { return nil }
    guard let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 0 else { return nil }
    return .microseconds(microseconds)
  }

  /// Returns the time since boot from CLOCK_MONOTONIC of clock_gettime(2).
  public static func monotonicNow() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// Sends a notification.
  ///
  /// - Returns: whether the manager was reached. If it was not, the service continues without it.
  @discardableResult
  public func tell(_ notice: Notice) async -> Bool {
    let text = Array(Self.text(notice).utf8)
    return await onThread { [address] _ in Self.send(text, to: address) }
  }

  private static func text(_ notice: Notice) -> String {
    switch notice {
    case .ready(let status):
      // Each line of the message is a separate assignment.
      "READY=1\nSTATUS=\(String(status.map { $0.isNewline ? " " : $0 }))"
    case .reloading(let instant): "RELOADING=1\nMONOTONIC_USEC=\(microseconds(instant))"
    case .stopping: "STOPPING=1"
    case .alive: "WATCHDOG=1"
    }
  }

  private static func microseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }

  /// Sends a message. Blocks for at most five seconds if the manager's queue is full.
  private static func send(_ text: [UInt8], to address: UnixAddress) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    return address.send(text, over: descriptor)
  }
}
