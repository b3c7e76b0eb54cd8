import HealthStore
import OperatingSystem
import PeerTrust

/// This machine as other machines meet it.
public struct LocalPeer: Sendable {
  /// What others may read, and what is pulled from them goes to.
  public let store: HealthStore
  /// Both who may read here and from whom is pulled.
  public let registry: PeerRegistry
  /// By which others know this machine again, whatever its name and address.
  public let identity: PeerIdentity
  /// What others shall call it.
  public let name: String

  /// - Parameter name: what others shall call it; the host name up to its first dot where nothing is given.
  public init(
    store: HealthStore, registry: PeerRegistry, identity: PeerIdentity, name: String = Hostname.short
  ) {
    self.store = store
    self.registry = registry
    self.identity = identity
    self.name = name
  }
}
