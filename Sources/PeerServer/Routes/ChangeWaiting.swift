import HealthStore
import Hummingbird
import OperatingSystem
import PeerProtocol
import ServiceLifecycle

/// Long polling: the query field `wait=SECONDS` of `GET /api/v2/changes` holds a request until there are changes.
///
/// Changes outside the caller's scope do not end a wait, because the timing would reveal them. While a request waits,
/// it holds a long-poll permit, but no ``FairSemaphore`` permit and no transaction. A wait ends when there are
/// changes for the caller, the requested time is over, the server shuts down, the token is no longer valid (401), or
/// the owner locks the machine (423).
struct ChangeWaiting: Sendable {
  private let store: HealthStore
  private let authentication: BearerAuthentication
  private let limits: ServingLimits
  private let permits: LongPollPermits
  private let clock: any Clock<Duration>

  init(
    store: HealthStore, authentication: BearerAuthentication, limits: ServingLimits,
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.clock = clock
    self.store = store
    self.authentication = authentication
    self.limits = limits
    permits = LongPollPermits(limits)
  }

  /// Returns the client and its query when it is time to answer. Throws ``ServerFailure``.
  ///
  /// - Returns: `waits` is whether the caller asked to wait, in which case an empty answer is not recorded as a read.
  func forChanges(
    _ request: Request, _ context: PeerRequestContext, seal: ChangeTokenSeal
  ) async throws -> (client: AuthorizedClient, query: ChangeQuery, waits: Bool) {
    let client = try context.authorized()
    let parameters = request.uri.queryParameters
    let query = try ChangeQuery(parameters, scope: client.scope, seal: seal)
    guard let time = try time(parameters["wait"]), request.method != .head else { return (client, query, false) }
    do {
      let (client, query) = try await wait(time, for: query, of: client, request, context, seal: seal)
      return (client, query, true)
    } catch StoreError.anchorOutOfRange {
      throw ServerFailure.tokenGone
    }
  }

  private func time(_ text: Substring?) throws -> Duration? {
    guard let text else { return nil }
    guard let seconds = Int(text), seconds >= 1, .seconds(seconds) <= limits.wait else {
      throw ServerFailure.badRequest("'wait' is not a whole number from 1 to \(limits.wait.components.seconds)")
    }
    return .seconds(seconds)
  }

  private func wait(
    _ time: Duration, for asked: ChangeQuery, of asking: AuthorizedClient, _ request: Request,
    _ context: PeerRequestContext, seal: ChangeTokenSeal
  ) async throws -> (AuthorizedClient, ChangeQuery) {
    var (client, query, context) = (asking, asked, context)
    guard try await isUpToDate(&query) else { return (client, query) }
    guard let permit = permits.acquire(client.id) else { throw ServerFailure.tooManyWait }
    defer { permit.release() }
    if context.connection?.isFollowing != true {
      try await authentication.audit.follows(client, query)
      context.connection?.isFollowing = true
    }
    let elapsed = clock.stopwatch()
    while true {
      context.storePermit?.release()
      context.responsePermit?.release()
      let end = try await rest(after: query.since, for: min(time - elapsed(), limits.waitRecheck))
      // Authorization first, so that a client that has lost it does not queue for a permit.
      context.authentication = nil
      client = try await authentication.authorize(request, &context)
      context.granted?.value = client.scope
      try await context.responsePermit?.reacquire()
      try await context.storePermit?.reacquire()
      let renewed = try ChangeQuery(request.uri.queryParameters, scope: client.scope, seal: seal)
      // The scope has changed. Either the token is no longer valid for it, or there was no token and all changes are
      // new.
      guard renewed.hash == query.hash else { return (client, renewed) }
      switch end {
      case .shutdown: return (client, query)
      case .time where elapsed() >= time: return (client, query)
      case .time: continue
      case .counter: guard try await isUpToDate(&query) else { return (client, query) }
      }
    }
  }

  /// Returns whether there are no changes after the query's anchor. If so, moves the anchor to the end of the feed.
  private func isUpToDate(_ query: inout ChangeQuery) async throws -> Bool {
    let page = try await store.feed.changes(since: query.since, epoch: query.epoch, filter: query.filter, limit: 1)
    guard page.changes.isEmpty else { return false }
    (query.since, query.epoch) = (page.anchor, page.epoch)
    return true
  }

  private enum End {
    case counter, time, shutdown
  }

  private func rest(after anchor: Anchor, for time: Duration) async throws -> End {
    try await withThrowingTaskGroup(of: End.self) { group in
      group.addTask {
        try await store.feed.waitForChanges(after: anchor)
        return .counter
      }
      group.addTask {
        try await clock.sleep(for: time)
        return .time
      }
      group.addTask {
        try await gracefulShutdown()
        return .shutdown
      }
      defer { group.cancelAll() }
      guard let first = try await group.next() else { throw CancellationError() }
      return first
    }
  }
}
