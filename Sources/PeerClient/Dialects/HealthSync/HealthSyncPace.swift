import OperatingSystem
import PeerProtocol
import PeerTrust
import Synchronization

/// A rate limiter that keeps the requests of this process to one phone below the app's limit of sixty in sixty
/// seconds.
final class HealthSyncPace: Sendable {
  /// The maximum number of requests per ``period``: one less than the app allows, because its minute and this
  /// machine's begin at different times.
  static let mostRequests = 59
  static let period = Duration.seconds(60)

  private let clock: any Clock<Duration>
  private let elapsed: @Sendable () -> Duration
  /// The past or scheduled times of the latest requests, oldest first.
  private let times = Mutex<[Duration]>([])

  init(_ clock: any Clock<Duration>) {
    self.clock = clock
    elapsed = clock.stopwatch()
  }

  /// Waits until another request is allowed and counts it. A request that is cancelled while waiting also counts.
  func take() async throws {
    let now = elapsed()
    let time = times.withLock { times in
      let time = times.count < Self.mostRequests ? now : max(now, times.removeFirst() + Self.period)
      times.append(time)
      return time
    }
    if time > now { try await clock.sleep(for: time - now) }
  }

  /// Returns the pause after the app has refused requests because another machine used up its limit. The pause grows
  /// with each refusal.
  static func pause(afterRefusals count: Int) -> Duration { .seconds(min(60, 15 << min(count, 4))) }
}

/// The rate limiters of all phones, one each for the lifetime of this process. The app counts the requests of a token
/// across pulls.
package final class HealthSyncPaces: Sendable {
  private let paces = Mutex<[PeerID: HealthSyncPace]>([:])

  package init() {}

  func pace(of server: ServerRecord, _ clock: any Clock<Duration>) -> HealthSyncPace {
    paces.withLock { paces in
      if let pace = paces[server.id] { return pace }
      let pace = HealthSyncPace(clock)
      paces[server.id] = pace
      return pace
    }
  }
}
