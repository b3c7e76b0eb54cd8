import HealthStore
import PeerTrust

/// What of this machine a pairing needs.
struct PairingSide: Sendable {
  let registry: PeerRegistry
  let identity: PeerIdentity
  /// What the other machine shall call this one.
  let name: String
  /// The store; where there is none, it is made if that is asked for, and else `nil`.
  let store: @Sendable (_ makes: Bool) async throws -> HealthStore?

  /// Writes down that this machine has paired.
  func record(success detail: [String: String]) async throws {
    try await store(true)?.audit.record(AuditEvent(.pairingSucceeded, detail))
  }

  /// Writes down that it has not. A store is not made for that: an empty one would look like one that was filled.
  func record(failure detail: [String: String]) async throws {
    try await store(false)?.audit.record(AuditEvent(.pairingFailed, detail))
  }
}
