import Synchronization

/// The free space of a simulated disk, which a test can change at any time.
public final class ChangingRoom: Sendable {
  private let state: Mutex<UInt64>

  public init(freeBytes: UInt64 = 1 << 40) { state = Mutex(freeBytes) }

  public var freeBytes: UInt64 {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
