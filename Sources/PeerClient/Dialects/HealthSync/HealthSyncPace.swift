import OperatingSystem
import PeerProtocol
import PeerTrust
import Synchronization

/// Keeps requests to one phone below what the app allows: sixty in sixty seconds, whoever of this process asks.
final class HealthSyncPace: Sendable {
  /// One less than the app allows: its clock and ours do not begin a minute together.
  static let mostRequests = 59
  static let period = Duration.seconds(60)

  private let clock: any Clock<Duration>
  private let elapsed: @Sendable () -> Duration
  /// When the latest requests left, or will, oldest first.
  private let times = Mutex<[Duration]>([])

  init(_ clock: any Clock<Duration>) {
    self.clock = clock
    elapsed = clock.stopwatch()
  }

  /// Waits until another request may leave, and counts it. What is cancelled meanwhile counts, too.
  func take() async throws {
    let now = elapsed()
    let time = times.withLock { times in
      let time = times.count < Self.mostRequests ? now : max(now, times.removeFirst() + Self.period)
      times.append(time)
      return time
    }
    if time > now { try await clock.sleep(for: time - now) }
  }

  /// The app has refused a request: another machine has used up its minute. How long to wait before the next, longer each
  /// time.
  static func pause(afterRefusals count: Int) -> Duration { .seconds(min(60, 15 << min(count, 4))) }
}

/// The pace of each phone for as long as this process runs: the app counts the requests of a token, however many pulls they
/// are of.
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
