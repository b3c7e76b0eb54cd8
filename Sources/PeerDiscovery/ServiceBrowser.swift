/// Looks for services on the local network, through avahi-daemon, on every interface and over both IP versions.
///
///     for try await event in ServiceBrowser().events() {
///       if case .found(let service) = event { print(service.name, service.address, service.port) }
///     }
///
/// When the address is known, there is no need to browse.
public struct ServiceBrowser: Sendable {
  /// How many announcements are tracked at once; one machine makes one for each interface and IP version.
  public static let maximumServices = 256
  /// How many events wait for a slow reader; beyond it the oldest are dropped.
  private static let maximumWaitingEvents = 4096
  private static let momentForOtherAddresses = Duration.milliseconds(200)

  private let type: String

  public init(type: String = HealthSyncService.type) {
    self.type = type
  }

  /// What appears and disappears, until the reader stops reading or its task is cancelled; then everything is freed.
  ///
  /// Throws ``DiscoveryError`` at once if avahi-daemon cannot be reached. If it goes away later, the stream goes on.
  public func events() -> AsyncThrowingStream<BrowseEvent, any Error> {
    let type = type
    return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(Self.maximumWaitingEvents)) { continuation in
      let task = Task {
        do {
          try await AvahiThread().run {
            BrowseSession(type: type, maximumServices: Self.maximumServices) { continuation.yield($0) }
          }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  /// The services present: browses for `duration`, or until one satisfies `isEnough` and its other addresses had
  /// a moment to arrive as well.
  ///
  /// An instance is listed once for every interface and address it was seen with, in the order of appearance.
  /// Throws ``DiscoveryError`` if avahi-daemon cannot be reached, and `CancellationError`.
  public func snapshot(
    for duration: Duration,
    until isEnough: @escaping @Sendable (DiscoveredService) -> Bool = { _ in false }
  ) async throws -> [DiscoveredService] {
    let events = events()
    let (matches, match) = AsyncStream.makeStream(of: Void.self)
    let services = try await withThrowingTaskGroup(of: [DiscoveredService]?.self) { group in
      group.addTask { try await Self.collect(events) { if isEnough($0) { match.finish() } } }
      // A timer that is cancelled ends like one that has run out: the collector alone decides what comes of it.
      group.addTask {
        try? await Task.sleep(for: duration)
        return nil
      }
      group.addTask {
        for await _ in matches {}
        try? await Task.sleep(for: min(duration, Self.momentForOtherAddresses))
        return nil
      }
      defer { group.cancelAll() }
      while let result = try await group.next() {
        if let services = result { return services }
        // Cancellation ends the stream of events, and what was collected is the result.
        group.cancelAll()
      }
      return []
    }
    try Task.checkCancellation()
    return services
  }

  /// What is present at the end of `events`.
  static func collect(
    _ events: some AsyncSequence<BrowseEvent, any Error>, whenFound: (DiscoveredService) -> Void = { _ in }
  ) async throws -> [DiscoveredService] {
    var services: [DiscoveredService] = []
    for try await event in events {
      switch event {
      case .found(let service):
        if let known = services.firstIndex(where: { $0.id == service.id && $0.address == service.address }) {
          services[known] = service
        } else {
          services.append(service)
        }
        whenFound(service)
      case .lost(let id):
        services.removeAll { $0.id == id }
      case .allForNow, .ignored, .daemonGone, .daemonBack:
        continue
      }
    }
    return services
  }
}
