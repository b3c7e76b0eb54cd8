/// What was seen on the network in a while.
public struct ServiceSurvey: Sendable, Hashable {
  /// An instance is listed once for every interface and address it was seen with, in the order of appearance.
  public var services: [DiscoveredService] = []
  /// Services that are not listed, by the address that announces too many of them.
  public var crowded: [String: Int] = [:]
  /// Services that are not listed because there are too many in all.
  public var ignored = 0

  /// Without arguments, a survey in which nothing was seen.
  public init(services: [DiscoveredService] = [], crowded: [String: Int] = [:], ignored: Int = 0) {
    self.services = services
    self.crowded = crowded
    self.ignored = ignored
  }

  /// Takes note of an event.
  mutating func note(_ event: BrowseEvent) {
    switch event {
    case .found(let service):
      if let known = services.firstIndex(where: { $0.id == service.id && $0.address == service.address }) {
        services[known] = service
      } else {
        services.append(service)
      }
    case .lost(let id):
      services.removeAll { $0.id == id }
    case .crowded(let address, let more):
      crowded[address] = more
    case .ignored(let total):
      ignored = total
    case .listening, .allForNow, .daemonGone, .daemonBack:
      break
    }
  }
}

/// Collects what a stream tells until `duration` is over, or `moment` has passed since the collector had enough.
///
/// - Parameter collect: reads a stream that ends when the task is cancelled, and returns what it has then; calls its
///   argument when what it has is enough.
/// - Returns: `nil` only if the calling task is cancelled.
func gather<Result: Sendable>(
  for duration: Duration, moment: Duration, clock: any Clock<Duration> = ContinuousClock(),
  _ collect: @escaping @Sendable (_ hasEnough: @escaping @Sendable () -> Void) async throws -> Result
) async throws -> Result? {
  let (signals, signal) = AsyncStream.makeStream(of: Void.self)
  return try await withThrowingTaskGroup(of: Result?.self) { group in
    group.addTask {
      try await collect { signal.finish() }
    }
    // A timer that is cancelled ends like one that has run out: the collector alone decides what comes of it.
    group.addTask {
      try? await clock.sleep(for: duration)
      return nil
    }
    group.addTask {
      for await _ in signals {}
      try? await clock.sleep(for: min(duration, moment))
      return nil
    }
    defer { group.cancelAll() }
    while let result = try await group.next() {
      if let result { return result }
      // Cancellation ends the stream, and what was collected is the result.
      group.cancelAll()
    }
    return nil
  }
}
