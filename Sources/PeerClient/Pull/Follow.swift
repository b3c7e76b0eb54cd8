import HealthModel
import HealthStore
import OperatingSystem
import PeerProtocol
import PeerTrust

/// Keeps one store up to date with one peer for as long as its task runs: pulls what there is, then what happens.
///
/// A connection that is lost is made again, wherever the peer is by then, as `PullRetry` decides: after a pause that grows
/// with each failure.
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
  /// What ``Follow/run(endpoints:full:report:)`` reports.
  public enum Event: Sendable {
    /// What has come since the last event of another kind, and how much is expected in all.
    case progress(PullProgress, expected: Int?)
    /// The peer has nothing more. What has come since the last time: nothing, once in a while.
    case upToDate(PullProgress, at: PeerEndpoint)
    /// Contact was lost, or could not be made, after this had come.
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

  /// The least limit on silence with which following makes sense, in seconds.
  public static let leastSilenceLimit = 5

  /// - Parameters:
  ///   - finder: finds the peer, again and again.
  ///   - identity, types, ownName, silenceLimit, persons: see ``Pull``.
  ///   - firstPullQueue: shared by all that follow into this store at once.
  ///   - heard: told whenever more of an answer has come.
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

  /// For how long the peer may hold a request, in seconds: so much less than our limit on silence that a slow network
  /// is not taken for silence.
  private var wait: Int { max(1, min(25, silenceLimit - 5)) }

  /// Follows until the task is cancelled, then throws `CancellationError`. Also ends, with the error, by what time does not
  /// mend: a refused token, another certificate, another person, a store that cannot be written.
  ///
  /// - Parameters:
  ///   - endpoints: where the peer was last.
  ///   - full: start from the beginning, once.
  ///   - report: what it throws ends this.
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
            // What is reported here is for a progress bar.
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
        // A cancelled read comes back as an error of the store.
        try Task.checkCancellation()
        throw error
      }
    }
  }
}
