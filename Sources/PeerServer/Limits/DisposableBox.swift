import Synchronization

/// A container for a value that is disposed of unless it is taken.
final class DisposableBox<Value: Sendable>: Sendable {
  private let value: Mutex<Value?>
  private let dispose: @Sendable (Value) async throws -> Void

  /// - Parameter dispose: called in a new task if the last reference goes away before the value is taken.
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
    // An unstructured task, because a deinitializer has no parent task.
    Task { [dispose] in try? await dispose(value) }
  }
}
