import OperatingSystem
import PeerProtocol
import PeerTrust

/// Tries whether this machine reaches those that ask for it: each at most once in ``pause``, one attempt at a time, so that
/// a caller makes this machine connect to nothing more often, nor keep more open, than one connection.
actor WayBack {
  /// Tries one machine where it was last, and nowhere else; bounded in time.
  typealias Trial = @Sendable (ServerRecord) async -> PairingView.Following

  /// Time in which the outcome of an attempt is told again instead of a new one. Shorter than what a person needs to
  /// mend something.
  static let pause = Duration.seconds(5)
  /// Maximum time of an attempt, the search for the address of a name included: less than the caller waits in silence.
  static let patience = Duration.seconds(4)

  private let trial: Trial?
  private let clock: any Clock<Duration>
  private let elapsed: @Sendable () -> Duration
  private var tried: [PeerID: (at: Duration, following: PairingView.Following)] = [:]
  private var trying: Set<PeerID> = []

  /// - Parameter trial: `nil` where nothing is tried.
  init(_ trial: Trial?, clock: any Clock<Duration> = ContinuousClock()) {
    self.trial = trial
    self.clock = clock
    elapsed = clock.stopwatch()
  }

  /// - Parameter server: as this machine has it in its list.
  func following(_ server: ServerRecord) async -> PairingView.Following {
    if let last = tried[server.id], elapsed() - last.at < Self.pause { return last.following }
    guard let trial, trying.insert(server.id).inserted else { return .init(endpoint: nil, outcome: .untried) }
    let attempt = Task { await trial(server) }
    let found = await TimeLimit.run(Self.patience, clock: clock) {
      await withTaskCancellationHandler {
        await attempt.value
      } onCancel: {
        attempt.cancel()
      }
    }
    if found != nil {
      trying.remove(server.id)
    } else {
      // The search for an address cannot be ended: until it has, nothing else is tried.
      Task {
        _ = await attempt.value
        trying.remove(server.id)
      }
      // The caller has gone, which says nothing of the way.
      if Task.isCancelled { return .init(endpoint: nil, outcome: .untried) }
    }
    let following = found ?? .init(endpoint: nil, outcome: .unreachable)
    // Of machines that do not ask any more, nothing stays.
    tried = tried.filter { elapsed() - $0.value.at < Self.pause }
    tried[server.id] = (elapsed(), following)
    return following
  }
}
