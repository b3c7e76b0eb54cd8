/// Looks for services on the local network, through avahi-daemon, on every interface and over both IP versions.
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
/// When the address is known, there is no need to browse.
public struct ServiceBrowser: Sendable {
  /// How many events wait for a slow reader; beyond it the oldest are dropped.
  private static let maximumWaitingEvents = 4096
  private static let momentForOtherAddresses = Duration.milliseconds(200)

  private let type: String
  private let clock: any Clock<Duration>

  /// - Parameters:
  ///   - type: a DNS-SD service type such as `_ipp._tcp` (RFC 6763 section 7).
  ///   - clock: by which the time for a survey is over.
  public init(type: String = HealthSyncService.type, clock: any Clock<Duration> = ContinuousClock()) {
    self.type = type
    self.clock = clock
  }

  /// What appears and disappears, until the reader stops reading or its task is cancelled; then everything is freed.
  ///
  /// Throws ``DiscoveryError`` at once if avahi-daemon cannot be reached. If it goes away later, the stream goes on.
  /// - Parameter isPreferred: whether an instance name is one that is looked for: such are resolved first, and never
  ///   passed over however many others there are.
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

  /// The services present: browses for `duration`, or until one satisfies `isEnough` and its other addresses had
  /// a moment to arrive as well.
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
    // Nothing seen means something only while somebody listened.
    case .gone(let reason) where survey.services.isEmpty: throw reason
    case .gone, .listening: return survey
    }
  }

  /// The services of a ``survey(for:preferring:until:)``.
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

  /// The last that is known of avahi-daemon.
  enum DaemonState: Hashable, Sendable {
    case silent, listening
    case gone(DiscoveryError)
  }

  /// What is present at the end of `events`.
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

/// What a ``ServiceBrowser`` saw happen.
public enum BrowseEvent: Sendable, Hashable {
  /// avahi-daemon has taken the question; sent once per connection to it.
  case listening
  /// A service was resolved, or one found before has a new address, port or TXT record.
  case found(DiscoveredService)
  /// A service found before is no longer announced, or does not answer any more.
  case lost(DiscoveredService.ID)
  /// Everything known to the network by now has been reported; sent once per connection to avahi-daemon.
  case allForNow
  /// One address announces more services than are tracked for it: `more` of them are passed over. Sent when that number
  /// doubles and when it has settled, so that a flood of announcements is not a flood of events.
  case crowded(address: String, more: Int)
  /// More services were announced than are tracked in all. Sent likewise.
  case ignored(total: Int)
  /// avahi-daemon or D-Bus went away: what was found before is no longer tracked. The browser waits for it to return.
  case daemonGone(DiscoveryError)
  /// avahi-daemon is back; what is there is found anew.
  case daemonBack
}
