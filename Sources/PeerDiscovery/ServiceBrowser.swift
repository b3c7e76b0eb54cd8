/// A browser for services on the local network, through avahi-daemon, on every interface and over both IP versions.
///
/// ```swift
/// for try await event in ServiceBrowser().events() {
///   switch event {
///   case .found(let service): print(service.name, service.address, service.port)
///   case .lost(let id): print("gone:", id.name)
///   default: continue
///   }
/// }
/// ```
///
/// Browsing is unnecessary if the address is known.
public struct ServiceBrowser: Sendable {
  /// The maximum number of events buffered for a slow reader; the oldest are dropped.
  private static let maximumWaitingEvents = 4096
  private static let momentForOtherAddresses = Duration.milliseconds(200)

  private let type: String
  private let clock: any Clock<Duration>

  /// Creates a browser.
  ///
  /// - Parameters:
  ///   - type: a DNS-SD service type such as `_ipp._tcp` (RFC 6763 section 7).
  ///   - clock: the clock that limits a survey.
  public init(type: String = HealthSyncService.type, clock: any Clock<Duration> = ContinuousClock()) {
    self.type = type
    self.clock = clock
  }

  /// Returns a stream of services that appear and disappear. All resources are freed when the reader stops or its
  /// task is cancelled.
  ///
  /// The stream throws ``DiscoveryError`` at once if avahi-daemon cannot be reached. If the daemon goes away later,
  /// the stream continues.
  /// - Parameter isPreferred: returns whether an instance name is wanted: such instances are resolved first and never
  ///   skipped, however many others there are.
  public func events(
    preferring isPreferred: @escaping @Sendable (_ name: String) -> Bool = { _ in false }
  ) -> AsyncThrowingStream<BrowseEvent, any Error> {
    let type = type
    return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(Self.maximumWaitingEvents)) { continuation in
      let task = Task {
        do {
          try await AvahiThread().run {
            BrowseSession(type: type, isPreferred: isPreferred) { continuation.yield($0) }
          }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  /// Returns the services that are present. Browses for `duration`, or until a service satisfies `isEnough` and its
  /// other addresses have had a moment to arrive.
  ///
  /// Throws ``DiscoveryError`` if avahi-daemon cannot be reached or does not answer, and `CancellationError`.
  public func survey(
    for duration: Duration,
    preferring isPreferred: @escaping @Sendable (_ name: String) -> Bool = { _ in false },
    until isEnough: @escaping @Sendable (DiscoveredService) -> Bool = { _ in false }
  ) async throws -> ServiceSurvey {
    let events = events(preferring: isPreferred)
    let collected = try await gather(for: duration, moment: Self.momentForOtherAddresses, clock: clock) { hasEnough in
      try await Self.collect(events) { if isEnough($0) { hasEnough() } }
    }
    let (survey, daemon) = collected ?? (ServiceSurvey(), .listening)
    try Task.checkCancellation()
    switch daemon {
    case .silent: throw DiscoveryError.daemonSilent(for: duration)
    // An empty result is meaningful only if the daemon was listening.
    case .gone(let reason) where survey.services.isEmpty: throw reason
    case .gone, .listening: return survey
    }
  }

  /// Returns the services of a ``survey(for:preferring:until:)``.
  public func snapshot(
    for duration: Duration,
    until isEnough: @escaping @Sendable (DiscoveredService) -> Bool = { _ in false }
  ) async throws -> [DiscoveredService] {
    try await survey(for: duration, until: isEnough).services
  }

  /// Returns as soon as avahi-daemon has answered.
  ///
  /// Throws ``DiscoveryError`` if it cannot be reached or does not answer in time, and `CancellationError`.
  public func reachDaemon(within limit: Duration) async throws {
    let events = events()
    let state = try await withThrowingTaskGroup(of: DaemonState.self) { group in
      group.addTask {
        for try await event in events {
          if case .listening = event { return .listening }
          if case .daemonGone(let reason) = event { return .gone(reason) }
        }
        return .silent
      }
      group.addTask {
        try await clock.sleep(for: limit)
        return .silent
      }
      defer { group.cancelAll() }
      return try await group.next() ?? .silent
    }
    try Task.checkCancellation()
    switch state {
    case .listening: return
    case .silent: throw DiscoveryError.daemonSilent(for: limit)
    case .gone(let reason): throw reason
    }
  }

  /// The last known state of avahi-daemon.
  enum DaemonState: Hashable, Sendable {
    case silent, listening
    case gone(DiscoveryError)
  }

  /// Returns the services present at the end of `events`, and the state of the daemon.
  static func collect(
    _ events: some AsyncSequence<BrowseEvent, any Error>, whenFound: (DiscoveredService) -> Void = { _ in }
  ) async throws -> (ServiceSurvey, DaemonState) {
    var survey = ServiceSurvey()
    var daemon = DaemonState.silent
    for try await event in events {
      survey.note(event)
      switch event {
      case .found(let service): whenFound(service)
      case .listening: daemon = .listening
      case .daemonGone(let reason): daemon = .gone(reason)
      case .lost, .allForNow, .crowded, .ignored, .daemonBack: break
      }
    }
    return (survey, daemon)
  }
}

extension DiscoveryError {
  fileprivate static func daemonSilent(for duration: Duration) -> Self {
    .daemonSilent(seconds: Int((duration / .seconds(1)).rounded(.up)))
  }
}

/// An event of a ``ServiceBrowser``.
public enum BrowseEvent: Sendable, Hashable {
  /// avahi-daemon has accepted the query. Sent once per connection to the daemon.
  case listening
  /// A service was resolved, or a known service has a new address, port or TXT record.
  case found(DiscoveredService)
  /// A known service is no longer announced or no longer answers.
  case lost(DiscoveredService.ID)
  /// All services known to the network so far have been reported. Sent once per connection to avahi-daemon.
  case allForNow
  /// An address announces more services than are tracked for it; `more` of them are skipped. Sent when that number
  /// doubles and when it has settled, so that a flood of announcements does not cause a flood of events.
  case crowded(address: String, more: Int)
  /// More services were announced than are tracked in total; `total` of them are skipped. Sent like
  /// ``crowded(address:more:)``.
  case ignored(total: Int)
  /// avahi-daemon or D-Bus went away, and known services are no longer tracked. The browser waits for it to return.
  case daemonGone(DiscoveryError)
  /// avahi-daemon is back, and services are found again.
  case daemonBack
}
