import Synchronization

/// Counts how often somebody has asked for settings to be read again, as by SIGHUP.
public final class Reloads: Sendable {
  private let count = Mutex(0)

  public init() {}

  public func request() { count.withLock { $0 += 1 } }

  var current: Int { count.withLock(\.self) }
}
