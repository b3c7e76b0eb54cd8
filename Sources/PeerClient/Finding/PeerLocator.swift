import PeerDiscovery
import PeerProtocol
import PeerTrust

/// A search for the current endpoint of a paired peer, proved by its certificate.
///
/// Every candidate is asked for a TLS handshake, which reveals nothing: the peer's last known endpoint and every
/// endpoint announced under its ID or name. Several are tried at a time, so that one that hangs or lies costs no
/// time. The first that shows the pinned certificate is the peer.
struct PeerLocator: Sendable {
  /// A function that performs a handshake with an endpoint and throws ``PeerError`` unless it shows the pinned
  /// certificate.
  typealias Probe = @Sendable (PeerEndpoint) async throws -> Void

  struct Limits: Sendable {
    /// The time in which only the known endpoints are tried, before announcements are watched as well.
    var headStart = Duration.seconds(1)
    /// The time to listen for announcements.
    var listening = PeerFinder.patience
    /// The maximum further time for handshakes that have begun when listening ends.
    var grace = Duration.seconds(6)
    var probesAtOnce = 32
    /// The maximum number of endpoints tried.
    var candidates = 256
  }

  /// An event of the network: endpoints to try, as they are announced.
  enum Hearing: Sendable {
    /// An announced endpoint.
    ///
    /// - Parameter claimsID: whether it is announced under the peer's own ID rather than only its name.
    case candidate(PeerEndpoint, claimsID: Bool)
    case listening
    case failed(any Error)
  }

  let server: ServerRecord
  var limits = Limits()
  var clock: any Clock<Duration> = ContinuousClock()
  let probe: Probe
  /// Listens to the network until it is cancelled.
  let hear: @Sendable (_ heard: @escaping @Sendable (Hearing) -> Void) async -> Void

  private enum Event: Sendable {
    case heard(Hearing)
    case proven(PeerEndpoint)
    case refuted(PeerEndpoint, any Error)
    case headStartIsOver, listeningIsOver, graceIsOver
  }

  /// Returns the first known or announced endpoint that shows the peer's certificate.
  ///
  /// Throws the most informative error: ``PeerError/certificateChanged(peer:pinned:seen:)`` if a server that claims
  /// to be the peer has another certificate and none has the right one; otherwise the error of an announced or known
  /// endpoint; otherwise ``PeerFinderError/notFound(name:seconds:seen:)`` or ``DiscoveryError``.
  func locate(known: [PeerEndpoint], excluding excluded: Set<PeerEndpoint> = []) async throws -> PeerEndpoint {
    let (events, inbox) = AsyncStream.makeStream(of: Event.self)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      var search = LocatorSearch(limits: limits, excluded: excluded)
      for endpoint in known { search.add(endpoint, claimsID: true, isKnown: true) }
      var isListening = false
      func listen() {
        guard !isListening else { return }
        isListening = true
        group.addTask { await hear { inbox.yield(.heard($0)) } }
        group.addTask { await after(limits.listening) { inbox.yield(.listeningIsOver) } }
        group.addTask { await after(limits.listening + limits.grace) { inbox.yield(.graceIsOver) } }
      }
      func tryNext() {
        while let endpoint = search.next() {
          group.addTask {
            do {
              try await probe(endpoint)
              inbox.yield(.proven(endpoint))
            } catch {
              inbox.yield(.refuted(endpoint, error))
            }
          }
        }
        if search.isIdle { listen() }
      }
      group.addTask { await after(limits.headStart) { inbox.yield(.headStartIsOver) } }
      tryNext()
      for await event in events {
        switch event {
        case .proven(let endpoint): return endpoint
        case .refuted(let endpoint, let error): search.refute(endpoint, error)
        case .heard(.candidate(let endpoint, let claimsID)): search.add(endpoint, claimsID: claimsID)
        case .heard(.listening): search.hasListened = true
        case .heard(.failed(let error)): search.fail(error)
        case .headStartIsOver: listen()
        case .listeningIsOver: search.listeningIsOver = true
        case .graceIsOver: throw search.failure(for: server)
        }
        tryNext()
        if search.isOver { throw search.failure(for: server) }
      }
      throw CancellationError()
    }
  }

  private func after(_ duration: Duration, _ body: () -> Void) async {
    if (try? await clock.sleep(for: duration)) != nil { body() }
  }
}
