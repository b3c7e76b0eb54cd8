import Synchronization

/// Whether something that runs beside is still under way.
public final class Ongoing: Sendable {
  private let state = Mutex(true)

  init() {}

  public var isUnderWay: Bool { state.withLock(\.self) }

  /// Runs `work`, with whose end this ends.
  func until<Result: Sendable>(_ work: @Sendable () async throws -> Result) async throws -> Result {
    defer { state.withLock { $0 = false } }
    return try await work()
  }
}
