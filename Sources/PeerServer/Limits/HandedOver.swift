import Synchronization

/// A value that must be taken by somebody, or else be disposed of.
final class HandedOver<Value: Sendable>: Sendable {
  private let value: Mutex<Value?>
  private let dispose: @Sendable (Value) async throws -> Void

  /// - Parameter dispose: called in a task of its own, when the last reference goes and nobody has taken the value.
  init(_ value: Value, dispose: @escaping @Sendable (Value) async throws -> Void) {
    self.value = Mutex(value)
    self.dispose = dispose
  }

  func take() -> Value? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }

  deinit {
    guard let value = take() else { return }
    // Nobody is left whose child this task could be.
    Task { [dispose] in try? await dispose(value) }
  }
}
