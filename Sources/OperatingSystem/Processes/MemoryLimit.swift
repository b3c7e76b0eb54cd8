/// Runs work and limits the growth of this process's resident memory.
///
/// The whole process counts, not only this work: choose a limit well above what the work needs.
///
/// ```swift
/// struct TooLarge: Error {}
/// let sum = try await within(growth: 1 << 30, orThrow: TooLarge()) { (1...1_000).reduce(0, +) }
/// print(sum)
/// ```
///
/// - Parameters:
///   - growth: the maximum growth of resident memory, in bytes.
///   - excess: the error to throw if the growth exceeds the limit. The work is cancelled and awaited first.
///   - pause: the time between two measurements.
/// - Throws: `excess`, or the errors of the work.
public func within<Value: Sendable>(
  growth: Int, orThrow excess: any Error, pause: Duration = .milliseconds(200),
  _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  let start = ProcessMemory.residentBytes ?? 0
  return try await withThrowingTaskGroup(of: Value?.self) { group in
    group.addTask { try await work() }
    group.addTask {
      while true {
        try await Task.sleep(for: pause)
        if let now = ProcessMemory.residentBytes, now - start > growth { return nil }
      }
    }
    defer { group.cancelAll() }
    guard let value = try await group.next() ?? nil else { throw excess }
    return value
  }
}
