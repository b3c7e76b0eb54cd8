import HealthModel
import HealthStore
import OperatingSystem
import PeerTrust

/// Who may send to an inbox, changed together with the audit event that says so.
public struct InboxSenders: Sendable {
  private let registry: PeerRegistry
  private let store: HealthStore

  /// - Parameter store: whose audit log has it.
  public init(_ registry: PeerRegistry, auditedIn store: HealthStore) {
    (self.registry, self.store) = (registry, store)
  }

  /// All of them, also those whose right was taken away, by name.
  public func all() async throws -> [InboxSender] { try await registry.inboxSenders() }

  /// Whether a record is here already, so that somebody has to say that a phone is of the same person.
  public func needsPerson() async throws -> Bool { try await !store.isEmpty() }

  /// Lets an app send, in the place of one of that name.
  ///
  /// - Parameters:
  ///   - name: see `InboxSender.isName(_:)`.
  ///   - types: what it may send; `nil` for everything.
  /// - Returns: the secret to type into the app. It is kept nowhere.
  public func add(_ name: String, types: Set<SampleType>?) async throws -> BearerToken {
    let secret = BearerToken.random()
    let person = try await store.person()
    try await uncancelled {
      // First: what cannot be written down is not allowed.
      try await store.audit.record(AuditEvent(.inboxChanged, ["sender": name, "change": "added"]))
      try await registry.addInboxSender(name, secret: secret, types: types, person: person)
    }
    return secret
  }

  /// Takes an app's right to send away, at once.
  ///
  /// - Returns: false where there is none of that name.
  public func remove(_ name: String) async throws -> Bool {
    try await uncancelled {
      guard try await registry.inboxSenders().contains(where: { $0.name == name }) else { return false }
      // First: a right that is taken away has an entry, or stays.
      try await store.audit.record(AuditEvent(.inboxChanged, ["sender": name, "change": "removed"]))
      return try await registry.revokeInboxSender(name)
    }
  }
}
