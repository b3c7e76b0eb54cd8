import HealthStore
import OperatingSystem
import PeerTrust

/// The identity, name and data with which this machine takes part in pairing, serving and pulling.
public struct LocalPeer: Sendable {
  /// The store that other machines read from, and that pulls write to.
  public let store: HealthStore
  /// The registry of the clients that read from this machine and of the servers it pulls from.
  public let registry: PeerRegistry
  /// The key and certificate that identify this machine, whatever its name and address.
  public let identity: PeerIdentity
  /// The name that this machine announces to others.
  public let name: String

  /// Creates a local peer.
  ///
  /// - Parameter name: the name that this machine announces to others; the host name up to its first dot by default.
  public init(
    store: HealthStore, registry: PeerRegistry, identity: PeerIdentity, name: String = Hostname.short
  ) {
    self.store = store
    self.registry = registry
    self.identity = identity
    self.name = name
  }
}
