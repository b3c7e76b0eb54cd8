import Foundation
import HTTPTypes
import HealthModel
import HealthStore
import Hummingbird
import PeerProtocol
import PeerTrust

/// `GET /api/v2/pairing`: what this machine knows of its pairing with the caller, which looks for what is wrong.
///
/// If it pulls from the caller, too, it tries to reach it where it last did: never an address that the caller names, and
/// not for each request (``WayBack``).
struct PairingViewRoutes: EndpointGroup {
  static let endpoints: [Endpoint<Self>] = [
    Endpoint(.get, Route.pairing, for: .paired, view)
  ]

  let store: HealthStore
  let registry: PeerRegistry
  let audit: AuditTrail
  let way: WayBack

  @Sendable private func view(_ request: Request, context: PeerRequestContext) async throws -> Response {
    let client = try context.authorized()
    if request.method == .head { return Response(status: .ok, headers: JSONAnswer.headers) }
    // Revoked since it was asked for the right.
    guard let record = try await registry.clients().first(where: { $0.id == client.id }), record.revoked == nil else {
      throw ServerFailure.unauthorized
    }
    var view = PairingView(
      address: context.remoteAddress, scope: record.scope, onlyDaily: record.isOnlyDaily,
      lastSeen: client.lastSeen.map(Self.instant), expires: Self.instant(record.expires),
      lowSpace: try await isLow(), following: nil)
    // A machine has one certificate, by which a client is called, and an ID of its own as a server.
    let server = try await registry.servers().first { PeerID(certificate: $0.fingerprint) == client.id }
    if let server { view.following = await way.following(server) }
    // What cannot be written down is not said.
    try await audit.viewed(client, address: context.remoteAddress, way: view.following?.outcome)
    return JSONAnswer.response(Envelope(view))
  }

  private func isLow() async throws -> Bool {
    do {
      try await store.requireRoom()
      return false
    } catch .lowSpace {
      return true
    }
  }

  private static func instant(_ date: Date) -> WireInstant { WireInstant(clamping: date.timeIntervalSince1970) }
}
