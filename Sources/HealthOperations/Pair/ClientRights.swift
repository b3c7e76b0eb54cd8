import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerTrust

/// The rights of other machines to read here. Each change is recorded in the audit log and applies from the next
/// request.
public struct ClientRights: Sendable {
  private let registry: PeerRegistry
  private let store: HealthStore

  /// Creates an interface to the rights.
  ///
  /// - Parameters:
  ///   - registry: stores the rights.
  ///   - store: its audit log records every change.
  public init(_ registry: PeerRegistry, auditedIn store: HealthStore) {
    self.registry = registry
    self.store = store
  }

  /// Revokes a machine's right to read.
  ///
  /// - Parameter name: the machine's name, or the beginning of its ID. Throws ``PeerRegistryError`` if it matches no
  ///   machine or several.
  /// - Returns: the revoked machine.
  public func revoke(matching name: String) async throws -> ClientRecord {
    try await uncancelled {
      let client = try await registry.revoke(matching: name)
      try await store.audit.record(AuditEvent(.tokenRevoked, ["peer": client.name, "id": client.id.hex]))
      return client
    }
  }

  /// Revokes the right to read of all machines.
  ///
  /// - Returns: the number of machines that could read.
  public func revokeAll() async throws -> Int {
    try await uncancelled {
      let count = try await registry.revokeAll()
      try await store.audit.record(AuditEvent(.tokenRevoked, ["peer": "all", "count": String(count)]))
      return count
    }
  }

  /// Changes what a machine may read.
  ///
  /// - Parameters:
  ///   - isOnlyDaily: whether the machine may read daily numbers only; `nil` leaves that unchanged.
  ///   - tokenDays: days without a request after which the machine must pair again; `nil` leaves that unchanged.
  public func limit(
    _ client: ClientRecord, to scope: SampleFilter, isOnlyDaily: Bool? = nil, tokenDays: Int? = nil
  ) async throws {
    try await uncancelled {
      if let tokenDays {
        try await registry.setTokenLifetime(TimeInterval(tokenDays) * 86_400, ofClient: client.id)
      }
      // Restrictions first, because a request may be answered between the two writes.
      if let isOnlyDaily { try await registry.setOnlyDaily(isOnlyDaily, ofClient: client.id) }
      if scope != client.scope { try await registry.setScope(scope, ofClient: client.id) }
      var detail = ["peer": client.name, "id": client.id.hex]
      detail["types"] = scope.types.map { $0.map(\.shortName).sorted().joined(separator: ",") } ?? "all"
      detail["earliest"] = scope.earliest?.iso8601
      detail["end"] = scope.end?.iso8601
      detail["sources"] = scope.sourceList
      detail["onlyDaily"] = isOnlyDaily.map(String.init)
      detail["tokenDays"] = tokenDays.map(String.init)
      try await store.audit.record(AuditEvent(.scopeChanged, detail))
    }
  }
}
