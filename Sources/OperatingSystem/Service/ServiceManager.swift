import Foundation
import Glibc

/// The service manager that started this process and waits to hear from it, such as systemd: sd_notify(3), spoken here, so
/// that no library of it is needed.
///
/// ```swift
/// guard let manager = ServiceManager() else { return }
/// await manager.tell(.ready(status: "Serving on port 8443"))
/// ```
public struct ServiceManager: Sendable {
  /// What it can be told.
  public enum Notice: Hashable, Sendable {
    /// The service does what it is there for, for the first time or again after ``reloading(at:)``.
    ///
    /// - Parameter status: one line for a person.
    case ready(status: String)
    /// The settings are being read again.
    ///
    /// - Parameter at: now, by the clock that ``ServiceManager/monotonicNow()`` reads.
    case reloading(at: Duration)
    /// The service ends.
    case stopping
    /// The service still answers, as ``ServiceManager/watchdog`` asks.
    case alive
  }

  /// After this long without ``Notice/alive`` the manager takes the service for dead; `nil` where it does not watch.
  public let watchdog: Duration?
  private let address: UnixAddress

  /// `nil` where nobody waits to hear: `NOTIFY_SOCKET` is unset, or names what is no socket of this machine.
  public init?(
    environment: [String: String] = ProcessInfo.processInfo.environment, process: pid_t = getpid()
  ) {
    guard let name = environment["NOTIFY_SOCKET"], let address = UnixAddress(name) else { return nil }
    self.address = address
    watchdog = Self.watchdog(environment, process)
  }

  /// What another process is watched for is not this one's.
  private static func watchdog(_ environment: [String: String], _ process: pid_t) -> Duration? {
    if let watched = environment["WATCHDOG_PID"], pid_t(watched) != process { return nil }
    guard let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 0 else { return nil }
    return .microseconds(microseconds)
  }

  /// CLOCK_MONOTONIC of clock_gettime(2), since the machine was started.
  public static func monotonicNow() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// - Returns: whether the manager was reached. Where it was not, the service goes on all the same.
  @discardableResult
  public func tell(_ notice: Notice) async -> Bool {
    let text = Array(Self.text(notice).utf8)
    return await onThread { [address] _ in Self.send(text, to: address) }
  }

  private static func text(_ notice: Notice) -> String {
    switch notice {
    case .ready(let status):
      // Each line is an assignment of its own.
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

  /// Blocks for five seconds at most, where the manager has much to read.
  private static func send(_ text: [UInt8], to address: UnixAddress) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    return address.send(text, over: descriptor)
  }
}
