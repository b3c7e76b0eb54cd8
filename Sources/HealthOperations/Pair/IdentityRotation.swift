import HealthStore
import OperatingSystem
import PeerTrust

/// An operation that replaces this machine's key and certificate; the old key signs the new certificate. Machines
/// that pull from here refuse it until they pair again. Servers that this machine pulls from still recognize it.
public struct IdentityRotation: Sendable {
  private let home: Home
  private let store: HealthStore

  /// Creates the operation.
  ///
  /// - Parameter lock: proves that no server is running, which would keep the old key. Release it after ``run()``.
  public init(in home: Home, auditedIn store: HealthStore, holding lock: ServeLock) {
    self.home = home
    self.store = store
  }

  /// Replaces the key and certificate, and returns the new identity. Throws ``IdentityError``.
  public func run() async throws -> PeerIdentity {
    try await uncancelled {
      let identity = try await IdentityStore.rotate(in: home.url)
      try await store.audit.record(
        AuditEvent(.identityRotated, ["id": identity.id.hex, "fingerprint": identity.fingerprint.hex]))
      return identity
    }
  }
}
