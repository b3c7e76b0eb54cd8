import Foundation
import NIOHTTP1
import PeerProtocol
import PeerTrust

/// Ending a pairing on the server.
public enum Unpair {
  /// Tells the server to forget this client. Succeeds if the server has already forgotten it.
  public static func tell(
    _ server: ServerRecord, at endpoint: PeerEndpoint, identity: PeerIdentity? = nil
  ) async throws {
    try await PeerConnection.withConnection(
      to: endpoint, trust: .pinned(server.fingerprint, peer: server.name), identity: identity
    ) { connection in
      let head = try await connection.send(
        .DELETE, Route.pairing, headers: [("Authorization", "Bearer \(server.credential.text)")])
      let raw = try await connection.body()
      guard head.status == .ok || head.status == .unauthorized else {
        throw connection.failure(status: Int(head.status.code), raw: raw)
      }
    }
  }
}
