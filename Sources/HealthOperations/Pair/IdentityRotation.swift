import HealthStore
import OperatingSystem
import PeerTrust

/// Gives this machine a new key and certificate, which the old key signs. Machines that pull from here refuse it until
/// they have paired again; those that it pulls from know it again.
public struct IdentityRotation: Sendable {
  private let home: Home
  private let store: HealthStore

  /// - Parameter lock: says that no server runs, which would go on with the old key; to be released after ``run()``.
  public init(in home: Home, auditedIn store: HealthStore, holding lock: ServeLock) {
    self.home = home
    self.store = store
  }

  /// Throws ``IdentityError``.
  public func run() async throws -> PeerIdentity {
    try await uncancelled {
      let identity = try await IdentityStore.rotate(in: home.url)
      try await store.audit.record(
        AuditEvent(.identityRotated, ["id": identity.id.hex, "fingerprint": identity.fingerprint.hex]))
      return identity
    }
  }
}
