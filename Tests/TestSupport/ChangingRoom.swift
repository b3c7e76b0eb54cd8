import Synchronization

/// A disk that becomes full and has room again, whenever a test says so: the free bytes of it.
public final class ChangingRoom: Sendable {
  private let state: Mutex<UInt64>

  public init(freeBytes: UInt64 = 1 << 40) { state = Mutex(freeBytes) }

  public var freeBytes: UInt64 {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
