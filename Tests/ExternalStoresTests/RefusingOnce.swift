import Synchronization

/// A switch that causes a single refusal after it was turned on.
final class RefusingOnce: Sendable {
  private let isDue = Mutex(false)

  func begin() { isDue.withLock { $0 = true } }

  func refuses() -> Bool {
    isDue.withLock { isDue in
      defer { isDue = false }
      return isDue
    }
  }
}
