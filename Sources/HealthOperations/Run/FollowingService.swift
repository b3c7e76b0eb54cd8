import Foundation
import OperatingSystem
import PeerClient
import PeerProtocol
import PeerTrust
import ServiceLifecycle

/// Follows every machine that this one is paired with, also those that it pairs with meanwhile, for as long as it runs, but for
/// those that an automation pulls from in its time.
///
/// A service to be run in a group. Its graceful shutdown ends pulls where they are; what has come stays.
public struct FollowingService: Service {
  private let home: Home
  private let registry: PeerRegistry
  private let operation: FollowOperation
  private let reloads: Reloads
  private let clock: any Clock<Duration>

  /// - Parameters:
  ///   - registry: of `home`.
  ///   - operation: how they are followed.
  public init(
    _ home: Home, _ registry: PeerRegistry, _ operation: FollowOperation, reloads: Reloads,
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.home = home
    self.registry = registry
    self.operation = operation
    self.reloads = reloads
    self.clock = clock
  }

  private struct Dependencies: Equatable {
    var reloads: Int
    /// Which pairings there are: another pairing with the same machine is another.
    var pairings: [PeerID: Date]
  }

  public func run() async throws {
    let supervision = Supervision(
      database: home.directory + "/" + PeerRegistry.fileName, reloads: reloads, clock: clock
    ) { [registry, reloads] in
      guard let servers = try? await registry.servers() else { return nil as Dependencies? }
      return Dependencies(
        reloads: reloads.current, pairings: Dictionary(servers.map { ($0.id, $0.created) }) { $1 })
    }
    await cancelWhenGracefulShutdown {
      await supervision.run { _ in
        guard var servers = try? await registry.servers() else { return }
        // Settings that cannot be read keep nobody from being followed.
        let automations = try? await onThread { [home] _ in
          try Automation.readable(in: home)
        }
        servers.removeAll { automations?.times(pullsFrom: $0) ?? false }
        guard !servers.isEmpty else { return }
        _ = try? await operation.run(servers.map { ($0, PeerFinder.hint(of: $0)) })
      }
    }
  }
}
