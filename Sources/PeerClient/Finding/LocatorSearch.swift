import PeerDiscovery
import PeerProtocol
import PeerTrust

/// The state of a ``PeerLocator``: the endpoints to try, those being tried, and the results.
struct LocatorSearch {
  private struct Candidate {
    /// Whether the endpoint is announced under the peer's ID or is its last known address. Otherwise it only has the
    /// peer's name.
    var claimsID: Bool
    var isKnown: Bool
  }

  private let limits: PeerLocator.Limits
  private let excluded: Set<PeerEndpoint>
  private var candidates: [PeerEndpoint: Candidate] = [:]
  private var waiting: [PeerEndpoint] = []
  private var active: Set<PeerEndpoint> = []
  private var posing: PeerError?
  private var knownFailure: PeerError?
  private var announcedFailure: PeerError?
  private var discoveryFailure: (any Error)?
  /// Whether avahi-daemon accepted the query.
  var hasListened = false
  var listeningIsOver = false

  init(limits: PeerLocator.Limits, excluded: Set<PeerEndpoint>) {
    self.limits = limits
    self.excluded = excluded
  }

  /// Whether no endpoint is being tried and none is queued.
  var isIdle: Bool { waiting.isEmpty && active.isEmpty }
  /// Whether the search has failed: no endpoint is being tried, and no further one will be announced.
  var isOver: Bool { isIdle && (listeningIsOver || discoveryFailure != nil) }

  mutating func add(_ endpoint: PeerEndpoint, claimsID: Bool, isKnown: Bool = false) {
    if candidates[endpoint] != nil {
      if claimsID { candidates[endpoint]?.claimsID = true }
      return
    }
    guard !excluded.contains(endpoint), candidates.count < limits.candidates else { return }
    candidates[endpoint] = Candidate(claimsID: claimsID, isKnown: isKnown)
    waiting.append(endpoint)
  }

  /// Returns the next endpoint to try, or nil if there is none or enough are being tried.
  mutating func next() -> PeerEndpoint? {
    guard !waiting.isEmpty, active.count < limits.probesAtOnce else { return nil }
    let endpoint = waiting.removeFirst()
    active.insert(endpoint)
    return endpoint
  }

  mutating func refute(_ endpoint: PeerEndpoint, _ error: any Error) {
    active.remove(endpoint)
    guard let candidate = candidates[endpoint], let error = error as? PeerError else { return }
    if case .certificateChanged = error {
      // Another machine may have the peer's name legitimately, but not its ID.
      if candidate.claimsID { posing = posing ?? error }
    } else if candidate.isKnown {
      knownFailure = knownFailure ?? error
    } else {
      announcedFailure = announcedFailure ?? error
    }
  }

  mutating func fail(_ error: any Error) { discoveryFailure = error }

  /// Returns the most informative error to report.
  func failure(for server: ServerRecord) -> any Error {
    // A wrong certificate is more important than an old address that no longer answers.
    if let posing { return posing }
    if let failure = announcedFailure ?? knownFailure { return failure }
    if let discoveryFailure { return discoveryFailure }
    let seconds = PeerFinder.patienceSeconds
    if !hasListened { return DiscoveryError.daemonSilent(seconds: seconds) }
    return PeerFinderError.notFound(name: server.name, seconds: seconds, seen: [])
  }
}
