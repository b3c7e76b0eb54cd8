import Foundation
import PeerTrust
import ServiceLifecycle

extension Home {
  /// Returns the certificates and tokens that expire soon or have expired.
  public func endings(now: Date = Date()) async throws -> [Ending] {
    let identity = try await IdentityStore.existing(in: url)
    let (clients, servers) = try await paired()
    return Ending.soon(identity: identity?.validity, clients: clients, servers: servers, now: now)
  }
}

/// A daily check for expiring certificates and tokens. Each is reported once a week, and when it has expired.
public struct ExpiryMonitor: Service {
  private static let pause = Duration.seconds(86_400)
  /// The time after which the same certificate or token is reported again.
  private static let again: TimeInterval = 7 * 86_400

  private let home: Home
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Date
  private let tell: @Sendable (Ending, _ isOver: Bool) -> Void

  /// Creates the service.
  ///
  /// - Parameters:
  ///   - clock: measures the day between two checks.
  ///   - now: returns the time that expiry dates are compared with.
  public init(
    _ home: Home, clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() },
    tell: @escaping @Sendable (Ending, _ isOver: Bool) -> Void
  ) {
    (self.home, self.clock, self.now, self.tell) = (home, clock, now, tell)
  }

  private struct Told {
    var at: Date
    var isOver: Bool
  }

  public func run() async {
    await cancelWhenGracefulShutdown {
      var told: [Ending: Told] = [:]
      while !Task.isCancelled {
        let now = now()
        // A read error is reported by the code that needs the data, so the earlier findings are kept.
        let endings = (try? await home.endings(now: now)) ?? told.keys.map(\.self)
        for ending in endings {
          let isOver = ending.isOver(at: now)
          if let before = told[ending] {
            guard isOver != before.isOver || (!isOver && now >= before.at + Self.again) else { continue }
          }
          told[ending] = Told(at: now, isOver: isOver)
          tell(ending, isOver)
        }
        told = told.filter { endings.contains($0.key) }
        try? await clock.sleep(for: Self.pause)
      }
    }
  }
}
