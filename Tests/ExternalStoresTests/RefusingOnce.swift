import Synchronization

/// Says once that something is to be refused, from when it is told to.
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
