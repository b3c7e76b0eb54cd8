import Dispatch

/// Runs work that blocks or computes for long on a Dispatch thread, so that no thread of the cooperative pool waits for
/// it.
enum BlockingWork {
  static func run<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
      DispatchQueue.global(qos: .userInitiated).async {
        continuation.resume(returning: Result(catching: work))
      }
    }
    return try result.get()
  }
}
