import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerTrust

/// What other machines may read here, changed together with the audit event that says so. Takes effect with a machine's
/// next request.
public struct ClientRights: Sendable {
  private let registry: PeerRegistry
  private let store: HealthStore

  /// - Parameters:
  ///   - registry: holds the rights.
  ///   - store: whose audit log has every change of them.
  public init(_ registry: PeerRegistry, auditedIn store: HealthStore) {
    self.registry = registry
    self.store = store
  }

  /// Takes the right to read away.
  ///
  /// - Parameter name: the machine's, or the beginning of its id. Throws ``PeerRegistryError`` where that means none, or
  ///   several.
  /// - Returns: which machine that was.
  public func revoke(matching name: String) async throws -> ClientRecord {
    try await uncancelled {
      let client = try await registry.revoke(matching: name)
      try await store.audit.record(AuditEvent(.tokenRevoked, ["peer": client.name, "id": client.id.hex]))
      return client
    }
  }

  /// - Returns: how many machines could read.
  public func revokeAll() async throws -> Int {
    try await uncancelled {
      let count = try await registry.revokeAll()
      try await store.audit.record(AuditEvent(.tokenRevoked, ["peer": "all", "count": String(count)]))
      return count
    }
  }

  /// Says what a machine may read.
  ///
  /// - Parameters:
  ///   - isOnlyDaily: whether it may have numbers of days only; `nil` leaves that as it is.
  ///   - tokenDays: without a request, after which it must pair again; `nil` leaves that as it is.
  public func limit(
    _ client: ClientRecord, to scope: SampleFilter, isOnlyDaily: Bool? = nil, tokenDays: Int? = nil
  ) async throws {
    try await uncancelled {
      if let tokenDays {
        try await registry.setTokenLifetime(TimeInterval(tokenDays) * 86_400, ofClient: client.id)
      }
      // First what narrows: in between, a request is answered.
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
