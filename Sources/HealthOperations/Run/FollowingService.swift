import Foundation
import OperatingSystem
import PeerClient
import PeerProtocol
import PeerTrust
import ServiceLifecycle

/// A service that follows every server that this machine is paired with, including servers that are paired with
/// later, but not those that an automation pulls from at its own times.
///
/// During a graceful shutdown, pulls stop where they are; what was pulled stays.
public struct FollowingService: Service {
  private let home: Home
  private let registry: PeerRegistry
  private let operation: FollowOperation
  private let reloads: Reloads
  private let clock: any Clock<Duration>

  /// Creates the service.
  ///
  /// - Parameters:
  ///   - registry: the registry of `home`.
  ///   - operation: follows the servers.
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
    /// The creation date of each pairing. It changes when a machine is paired again.
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
        // If the settings cannot be read, all servers are followed.
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
