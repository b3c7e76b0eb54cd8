import HealthStore
import OperatingSystem
import PeerTrust

/// This machine as other machines meet it.
public struct LocalPeer: Sendable {
  public let store: HealthStore
  public let registry: PeerRegistry
  public let identity: PeerIdentity
  /// What others shall call it.
  public let name: String

  public init(
    store: HealthStore, registry: PeerRegistry, identity: PeerIdentity, name: String = Hostname.short
  ) {
    self.store = store
    self.registry = registry
    self.identity = identity
    self.name = name
  }
}
