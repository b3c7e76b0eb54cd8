import HealthModel
import HealthStore
import OperatingSystem
import PeerProtocol
import PeerTrust

/// A continuous pull that keeps one store up to date with one peer while its task runs.
///
/// If the connection is lost, it is made again at the peer's new endpoint, after a pause that grows with each failure
/// (`PullRetry`).
///
/// ```swift
/// func follow(_ server: ServerRecord, into store: HealthStore, finder: PeerFinder, _ own: PeerIdentity) async throws {
///   let follow = Follow(into: store, from: server, finder: finder, identity: own)
///   try await follow.run(endpoints: PeerFinder.hint(of: server)) { event in
///     switch event {
///     case .progress(let done, _): print("\(done.changes) so far")
///     case .upToDate(let done, let endpoint): print("\(done.added) added from \(endpoint)")
///     case .lost(let error, _): print("trying again: \(error)")
///     }
///   }
/// }
/// ```
public struct Follow: Sendable {
  /// The events of ``Follow/run(endpoints:full:report:)``.
  public enum Event: Sendable {
    /// The changes since the last event of another kind, and the total expected.
    case progress(PullProgress, expected: Int?)
    /// The peer has nothing more. The progress counts the changes since the last such event and may be empty.
    case upToDate(PullProgress, at: PeerEndpoint)
    /// The connection was lost or could not be made. The progress counts the changes received before.
    case lost(any Error, after: PullProgress)
  }

  private let store: HealthStore
  private let server: ServerRecord
  private let finder: PeerFinder
  private let identity: PeerIdentity?
  private let types: [SampleType]
  private let ownName: String?
  private let silenceLimit: Int
  private let persons: PersonCheck?
  private let firstPullQueue: FirstPullQueue?
  private let retry: PullRetry
  private let heard: @Sendable () -> Void

  /// The minimum useful limit on silence for following, in seconds.
  public static let leastSilenceLimit = 5

  /// - Parameters:
  ///   - finder: finds the peer's endpoint for each connection.
  ///   - identity, types, ownName, silenceLimit, persons: see ``Pull``.
  ///   - firstPullQueue: the queue shared by all that follow into this store.
  ///   - heard: called whenever more of an answer has arrived.
  public init(
    into store: HealthStore, from server: ServerRecord, finder: PeerFinder, identity: PeerIdentity? = nil,
    types: [SampleType] = [], ownName: String? = nil, silenceLimit: Int = PeerConnection.silenceLimit,
    persons: PersonCheck? = nil, firstPullQueue: FirstPullQueue? = nil, heard: @escaping @Sendable () -> Void = {}
  ) {
    self.init(
      into: store, from: server, finder: finder, identity: identity, types: types, ownName: ownName,
      silenceLimit: silenceLimit, persons: persons, firstPullQueue: firstPullQueue, retry: PullRetry(), heard: heard)
  }

  init(
    into store: HealthStore, from server: ServerRecord, finder: PeerFinder, identity: PeerIdentity? = nil,
    types: [SampleType] = [], ownName: String? = nil, silenceLimit: Int = PeerConnection.silenceLimit,
    persons: PersonCheck? = nil, firstPullQueue: FirstPullQueue? = nil, retry: PullRetry,
    heard: @escaping @Sendable () -> Void = {}
  ) {
    self.ownName = ownName
    self.persons = persons
    self.firstPullQueue = firstPullQueue
    self.store = store
    self.server = server
    self.finder = finder
    self.identity = identity
    self.types = types
    self.silenceLimit = silenceLimit
    self.retry = retry
    self.heard = heard
  }

  /// The number of seconds for which the peer may hold a request. It is below the limit on silence by a margin, so
  /// that a slow network is not taken for silence.
  private var wait: Int { max(1, min(25, silenceLimit - 5)) }

  /// Follows until the task is cancelled, then throws `CancellationError`. Throws any error that time does not fix: a
  /// refused token, another certificate, another person, a store that cannot be written.
  ///
  /// - Parameters:
  ///   - endpoints: the peer's last known endpoints.
  ///   - full: whether to start from the beginning, once.
  ///   - report: called with each event. An error that it throws ends the call, except for progress events.
  public func run(
    endpoints: [PeerEndpoint], full: Bool = false, report: (Event) async throws -> Void
  ) async throws {
    var (endpoints, full, retry) = (endpoints, full, retry)
    let announcements = AnnouncementWatch(of: server, finder)
    while true {
      var (latest, told) = (PullProgress(), PullProgress())
      let elapsed = ClientNetwork.current.clock.stopwatch()
      var turn: FirstPullQueue.Place?
      defer { turn?.leave() }
      do {
        turn = try await firstPullQueue?.take(for: store)
        _ = try await finder.reach(server, endpoints: endpoints) { endpoint, handshakeLimit in
          try await Pull(
            into: store, from: server, at: endpoint, identity: identity, types: types, ownName: ownName,
            silenceLimit: silenceLimit, handshakeLimit: handshakeLimit, persons: persons,
            heard: { [heard] _ in heard() }
          ).watch(full: full, wait: wait) { done, expected in
            latest = done
            // Errors of progress reports are ignored, because they only drive a progress bar.
            try? await report(.progress(done - told, expected: expected))
          } upToDate: { done in
            turn?.leave()
            (endpoints, full) = ([endpoint], false)
            retry.succeeded(withNews: done.news != told.news, after: elapsed())
            defer { told = done }
            try await report(.upToDate(done - told, at: endpoint))
          }
        }
      } catch  where !Task.isCancelled && PullRetry.mayHelp(after: error, isApp: server.traits.isApp) {
        turn?.leave()
        try await report(.lost(error, after: latest - told))
        try await announcements.pause(for: retry.pause(after: error))
      } catch {
        // The store reports a cancelled read as an error of its own.
        try Task.checkCancellation()
        throw error
      }
    }
  }
}
