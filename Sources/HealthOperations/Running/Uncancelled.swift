/// Runs `work` to its end whether or not the task is cancelled: what was done must be written down.
func uncancelled<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
  try await Task { try await work() }.value
}
