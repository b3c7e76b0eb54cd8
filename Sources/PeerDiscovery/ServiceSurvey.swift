/// The services seen on the network during a period of time.
public struct ServiceSurvey: Sendable, Hashable {
  /// The services in the order of appearance, once for each interface and address.
  public var services: [DiscoveredService] = []
  /// The number of skipped services, by the address that announces too many of them.
  public var crowded: [String: Int] = [:]
  /// The number of services skipped because there are too many in total.
  public var ignored = 0
  /// The entries from before avahi-daemon was away that were not seen again.
  private var unconfirmed: Set<Entry> = []

  private struct Entry: Hashable {
    let id: DiscoveredService.ID
    let address: String
  }

  /// Creates a survey; an empty one without arguments.
  public init(services: [DiscoveredService] = [], crowded: [String: Int] = [:], ignored: Int = 0) {
    self.services = services
    self.crowded = crowded
    self.ignored = ignored
  }

  /// Updates the survey with an event.
  mutating func note(_ event: BrowseEvent) {
    switch event {
    case .found(let service):
      unconfirmed.remove(Entry(id: service.id, address: service.address))
      if let known = services.firstIndex(where: { $0.id == service.id && $0.address == service.address }) {
        services[known] = service
      } else {
        replaceUnconfirmed(at: service.address)
        services.append(service)
      }
    case .lost(let id):
      services.removeAll { $0.id == id }
      unconfirmed = unconfirmed.filter { $0.id != id }
    case .crowded(let address, let more):
      crowded[address] = more
    case .ignored(let total):
      ignored = total
    case .daemonBack:
      unconfirmed = Set(services.map { Entry(id: $0.id, address: $0.address) })
    case .listening, .allForNow, .daemonGone:
      break
    }
  }

  /// Removes an unconfirmed entry of an address that gets another one: the limit per address counts from zero after
  /// avahi-daemon was away, and the list must not grow past it.
  private mutating func replaceUnconfirmed(at address: String) {
    guard let entry = unconfirmed.first(where: { $0.address == address }) else { return }
    unconfirmed.remove(entry)
    services.removeAll { $0.id == entry.id && $0.address == entry.address }
  }
}

/// Collects from a stream until `duration` is over, or until `moment` has passed since the collector had enough.
///
/// - Parameter collect: reads a stream that ends when the task is cancelled, and returns what it has read; calls its
///   argument when that is enough.
/// - Returns: the collected result; `nil` only if the calling task is cancelled.
func gather<Result: Sendable>(
  for duration: Duration, moment: Duration, clock: any Clock<Duration> = ContinuousClock(),
  _ collect: @escaping @Sendable (_ hasEnough: @escaping @Sendable () -> Void) async throws -> Result
) async throws -> Result? {
  let (signals, signal) = AsyncStream.makeStream(of: Void.self)
  return try await withThrowingTaskGroup(of: Result?.self) { group in
    group.addTask {
      try await collect { signal.finish() }
    }
    // A cancelled timer ends like an expired one, so only the collector's result counts.
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
      // Cancellation ends the stream, and the collector then returns its result.
      group.cancelAll()
    }
    return nil
  }
}
