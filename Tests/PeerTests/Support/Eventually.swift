import Testing

struct NeverHappened: Error {}

/// Polls until `condition` returns a value, for results that another task writes a moment later.
func eventually<Value>(
  within limit: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation,
  _ condition: () async throws -> Value?
) async throws -> Value {
  let end = ContinuousClock.now + limit
  while ContinuousClock.now < end {
    if let value = try await condition() { return value }
    try await Task.sleep(for: .milliseconds(5))
  }
  Issue.record("waited \(limit) in vain", sourceLocation: sourceLocation)
  throw NeverHappened()
}
