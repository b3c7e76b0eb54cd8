import HealthStore
import OperatingSystem
import PeerProtocol

extension Pull {
  /// Runs to the end of what the peer has, and then asks it, over the same connection, to answer as soon as there is
  /// more; so for as long as the connection lasts.
  ///
  /// - Parameters:
  ///   - full: see ``run(full:progress:)``.
  ///   - wait: seconds for which the peer may hold a request; fewer than the limit on silence.
  ///   - upToDate: told each time the peer has nothing more, also when nothing came since the last time.
  package func watch(
    full: Bool, wait: Int, progress: Report, upToDate: (_ done: PullProgress) async throws -> Void
  ) async throws {
    var done = PullProgress()
    let clock = ClientNetwork.current.clock
    try await withPeer { session in
      var repeated = RepeatedChanges(session.limits, isApp: server.traits.isApp)
      repeated.reset(done)
      if full { try await startOver(session) }
      try await catchUp(session, &done, &repeated, progress)
      try await upToDate(done)
      let waiting = PullWaiting(seconds: wait)
      var pause = PullWaiting.firstPause
      var hasStartedOver = false
      while true {
        let (elapsed, before) = (clock.stopwatch(), done.news)
        // At each look, an app lists again what it has of late, or has little of.
        if server.traits.isApp { repeated.reset(done) }
        do {
          if try await request(session, &done, &repeated, progress, waiting: waiting) {
            try await catchUp(session, &done, &repeated, progress)
          }
        } catch PeerError.tokenGone where !hasStartedOver {
          // Our scope was changed, as a rule. Once for each connection: a peer must not have us start over for ever.
          hasStartedOver = true
          waiting.token = nil
          repeated.reset(done)
          try await catchUp(session, &done, &repeated, progress)
        }
        try await upToDate(done)
        if done.news != before || elapsed() > .seconds(wait) / 2 {
          pause = PullWaiting.firstPause
        } else {
          // It does not hold requests, being an older version, or answers them with what is here already: that must not
          // become a request after the other.
          try await clock.sleep(for: pause)
          pause = min(pause * 2, PullWaiting.longestPause)
        }
      }
    }
  }
}

/// What requests that the peer may hold have in common.
final class PullWaiting {
  static let firstPause = Duration.seconds(1)
  /// Shorter than a server keeps a connection over which nothing is asked.
  static let longestPause = Duration.seconds(20)
  /// How often the position is written although nothing has changed. It moves on with what we may not see, and one that is too
  /// old cannot be continued from.
  private static let keeping = Duration.seconds(3600)

  let seconds: Int
  /// Where to go on, newer than what the store holds; nothing came in between.
  var token: String?
  private let clock = ClientNetwork.current.clock
  private var sinceKept: @Sendable () -> Duration

  init(seconds: Int) {
    self.seconds = seconds
    sinceKept = clock.stopwatch()
  }

  /// Whether a token that follows no changes may stay in memory, so that an idle night writes nothing.
  func keep(_ token: String) -> Bool {
    guard sinceKept() < Self.keeping else {
      sinceKept = clock.stopwatch()
      return false
    }
    self.token = token
    return true
  }
}
