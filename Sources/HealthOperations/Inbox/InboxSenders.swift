import HealthModel
import HealthStore
import OperatingSystem
import PeerTrust

/// The apps that may send to an inbox. Each change is recorded in the audit log.
public struct InboxSenders: Sendable {
  private let registry: PeerRegistry
  private let store: HealthStore

  /// Creates an interface to the senders.
  ///
  /// - Parameter store: its audit log records every change.
  public init(_ registry: PeerRegistry, auditedIn store: HealthStore) {
    (self.registry, self.store) = (registry, store)
  }

  /// Returns all senders by name, including revoked ones.
  public func all() async throws -> [InboxSender] { try await registry.inboxSenders() }

  /// Returns whether the store has a record already, so that a person must confirm whose phone it is.
  public func needsPerson() async throws -> Bool { try await !store.isEmpty() }

  /// Allows an app to send, and replaces a sender of the same name.
  ///
  /// - Parameters:
  ///   - name: see `InboxSender.isName(_:)`.
  ///   - types: the types that it may send; `nil` for all.
  /// - Returns: the secret to type into the app. It is not stored.
  public func add(_ name: String, types: Set<SampleType>?) async throws -> BearerToken {
    let secret = BearerToken.random()
    let person = try await store.person()
    try await uncancelled {
      // The audit event comes first, so that nothing is allowed without a record of it.
      try await store.audit.record(AuditEvent(.inboxChanged, ["sender": name, "change": "added"]))
      try await registry.addInboxSender(name, secret: secret, types: types, person: person)
    }
    return secret
  }

  /// Revokes an app's right to send, effective immediately.
  ///
  /// - Returns: `false` if there is no sender of that name.
  public func remove(_ name: String) async throws -> Bool {
    try await uncancelled {
      guard try await registry.inboxSenders().contains(where: { $0.name == name }) else { return false }
      // The audit event comes first, so that nothing is revoked without a record of it.
      try await store.audit.record(AuditEvent(.inboxChanged, ["sender": name, "change": "removed"]))
      return try await registry.revokeInboxSender(name)
    }
  }
}
