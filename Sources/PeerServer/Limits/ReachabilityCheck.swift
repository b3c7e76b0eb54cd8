import OperatingSystem
import PeerProtocol
import PeerTrust

/// A check whether this machine can connect to machines that request their pairing view. Each is tried at most once
/// per ``pause`` and with one attempt at a time, so that a caller cannot make this machine open many connections.
actor ReachabilityCheck {
  /// A function that tries one machine at its last known address only, within a time limit.
  typealias Trial = @Sendable (ServerRecord) async -> PairingView.Following

  /// The time for which the result of an attempt is reused. Shorter than the time that a person needs to fix a
  /// problem.
  static let pause = Duration.seconds(5)
  /// The maximum time of an attempt, including name resolution. Shorter than the caller's limit on silence.
  static let patience = Duration.seconds(4)

  private let trial: Trial?
  private let clock: any Clock<Duration>
  private let elapsed: @Sendable () -> Duration
  private var tried: [PeerID: (at: Duration, following: PairingView.Following)] = [:]
  private var trying: Set<PeerID> = []

  /// - Parameter trial: the attempt function, or `nil` to try no machine.
  init(_ trial: Trial?, clock: any Clock<Duration> = ContinuousClock()) {
    self.trial = trial
    self.clock = clock
    elapsed = clock.stopwatch()
  }

  /// Returns the result of connecting to a machine.
  ///
  /// - Parameter server: the machine's record in this machine's list.
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
      // Name resolution cannot be cancelled, so this machine is not tried again until it has ended.
      Task {
        _ = await attempt.value
        trying.remove(server.id)
      }
      // The caller disconnected, which says nothing about reachability.
      if Task.isCancelled { return .init(endpoint: nil, outcome: .untried) }
    }
    let following = found ?? .init(endpoint: nil, outcome: .unreachable)
    // Removes results that are too old to be reused.
    tried = tried.filter { elapsed() - $0.value.at < Self.pause }
    tried[server.id] = (elapsed(), following)
    return following
  }
}
