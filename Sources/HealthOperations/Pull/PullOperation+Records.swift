import Foundation
import HealthStore
import PeerClient
import PeerTrust

/// What a pull leaves in the audit log and in the registry of peers.
extension PullOperation {
  func record(
    _ name: AuditEvent.Name, _ server: ServerRecord, _ done: PullProgress, reason: String? = nil
  ) async throws {
    var detail = [
      "peer": server.name, "id": server.id.hex, "added": String(done.added), "deleted": String(done.deleted),
      "unchanged": String(done.unchanged), "bytes": String(done.bytes), "requests": String(done.requests),
    ]
    detail["reason"] = reason
    try await local.store.audit.record(AuditEvent(name, detail))
  }

  /// Where it was found, what it is called by now, and that its token was used.
  func note(_ server: ServerRecord, at endpoint: PeerEndpoint, name: String?) async throws {
    if let name, name != server.name {
      try await local.registry.renameServer(id: server.id, to: name)
      try await local.store.audit.record(
        AuditEvent(.peerRenamed, ["peer": name, "id": server.id.hex, "before": server.name]))
      notice(.renamed(server, to: name))
    }
    try await local.registry.updateServer(id: server.id, host: endpoint.host, port: UInt16(endpoint.port))
    try await local.registry.markServerUsed(id: server.id, expires: server.expiry(usedAt: Date()))
  }

  /// A token that is refused as expired may be a clock's fault, and nobody would look there.
  func explain(_ server: ServerRecord, _ endpoints: [PeerEndpoint]) async {
    guard let endpoint = endpoints.first else { return }
    let status = try? await PeerConnection.withConnection(
      to: endpoint, trust: .pinned(server.fingerprint, peer: server.name)
    ) { connection in try await connection.status() }
    if let difference = status.flatMap(ClockDifference.init) { notice(.clocksDiffer(difference)) }
  }
}
