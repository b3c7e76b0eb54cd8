/// Runs work that may not make this process grow by more than a number of bytes of resident memory.
///
/// The growth is that of the whole process, whoever caused it: choose a limit well above what the work needs.
///
/// ```swift
/// struct TooLarge: Error {}
/// let sum = try await within(growth: 1 << 30, orThrow: TooLarge()) { (1...1_000).reduce(0, +) }
/// print(sum)
/// ```
///
/// - Parameters:
///   - growth: the most bytes by which resident memory may grow.
///   - excess: the error that is thrown when it grew further. The work is cancelled and its end awaited first.
///   - pause: the time between two looks.
/// - Throws: `excess`, or what the work throws.
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
