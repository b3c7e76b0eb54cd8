import Foundation
import PeerTrust
import ServiceLifecycle

extension Home {
  /// Certificates and tokens that end soon or have ended.
  public func endings(now: Date = Date()) async throws -> [Ending] {
    let identity = try await IdentityStore.existing(in: url)
    let (clients, servers) = try await paired()
    return Ending.soon(identity: identity?.validity, clients: clients, servers: servers, now: now)
  }
}

/// Looks once a day for certificates and tokens that end soon, and tells of each once a week, and when it has ended.
///
/// A service to be run in a group.
public struct EndingWatch: Service {
  private static let pause = Duration.seconds(86_400)
  /// After which the same is told again.
  private static let again: TimeInterval = 7 * 86_400

  private let home: Home
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Date
  private let tell: @Sendable (Ending, _ isOver: Bool) -> Void

  /// - Parameters:
  ///   - clock: by which a day passes.
  ///   - now: by which things end.
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
        // What cannot be read, those say that need it.
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
