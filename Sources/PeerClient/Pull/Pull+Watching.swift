import HealthStore
import OperatingSystem
import PeerProtocol

extension Pull {
  /// Pulls until the peer has nothing more, and then sends long polls over the same connection for as long as it
  /// lasts.
  ///
  /// - Parameters:
  ///   - full: see ``run(full:progress:)``.
  ///   - wait: the number of seconds for which the peer may hold a request; below the limit on silence.
  ///   - upToDate: called each time the peer has nothing more, even if nothing arrived since the last time.
  package func watch(
    full: Bool, wait: Int, progress: Report, upToDate: (_ done: PullProgress) async throws -> Void
  ) async throws {
    var done = PullProgress()
    let clock = ClientNetwork.current.clock
    try await withPeer { session in
      var repeated = RepeatGuard(session.limits, isApp: server.traits.isApp)
      repeated.reset(done)
      if full { try await startOver(session) }
      try await catchUp(session, &done, &repeated, progress)
      try await upToDate(done)
      let waiting = PullWaiting(seconds: wait)
      var pause = PullWaiting.firstPause
      var hasStartedOver = false
      while true {
        let (elapsed, before) = (clock.stopwatch(), done.news)
        // At each poll, an app lists recent samples again, or all of a type with few.
        if server.traits.isApp { repeated.reset(done) }
        do {
          if try await request(session, &done, &repeated, progress, waiting: waiting) {
            try await catchUp(session, &done, &repeated, progress)
          }
        } catch PeerError.tokenGone where !hasStartedOver {
          // Usually this client's scope was changed. Allowed once per connection, so that a peer cannot cause endless
          // restarts.
          hasStartedOver = true
          waiting.token = nil
          repeated.reset(done)
          try await catchUp(session, &done, &repeated, progress)
        }
        try await upToDate(done)
        if done.news != before || elapsed() > .seconds(wait) / 2 {
          pause = PullWaiting.firstPause
        } else {
          // The peer, perhaps an older version, does not hold requests, or answers them with known changes. A pause
          // prevents a busy loop.
          try await clock.sleep(for: pause)
          pause = min(pause * 2, PullWaiting.longestPause)
        }
      }
    }
  }
}

/// The state shared by the long polls of one connection.
final class PullWaiting {
  static let firstPause = Duration.seconds(1)
  /// The longest pause, shorter than a server keeps an idle connection.
  static let longestPause = Duration.seconds(20)
  /// The interval at which the position is stored although nothing has changed. The position moves with changes
  /// outside this client's scope, and the server cannot continue from one that is too old.
  private static let keeping = Duration.seconds(3600)

  let seconds: Int
  /// The token to continue from, newer than the stored one, with no changes in between.
  var token: String?
  private let clock = ClientNetwork.current.clock
  private var sinceKept: @Sendable () -> Duration

  init(seconds: Int) {
    self.seconds = seconds
    sinceKept = clock.stopwatch()
  }

  /// Keeps a token in memory if no changes precede it, so that an idle night writes nothing. Returns false when it is
  /// time to store the token.
  func keep(_ token: String) -> Bool {
    guard sinceKept() < Self.keeping else {
      sinceKept = clock.stopwatch()
      return false
    }
    self.token = token
    return true
  }
}
