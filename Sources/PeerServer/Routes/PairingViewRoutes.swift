import Foundation
import HTTPTypes
import HealthModel
import HealthStore
import Hummingbird
import PeerProtocol
import PeerTrust

/// The route `GET /api/v2/pairing`: what this machine knows about its pairing with the caller, for diagnosis.
///
/// If this machine also pulls from the caller, it tries to connect to the caller's last known address, never to an
/// address that the caller names, and not for each request (``ReachabilityCheck``).
struct PairingViewRoutes: EndpointGroup {
  static let endpoints: [Endpoint<Self>] = [
    Endpoint(.get, Route.pairing, for: .paired, view)
  ]

  let store: HealthStore
  let registry: PeerRegistry
  let audit: AuditTrail
  let way: ReachabilityCheck

  @Sendable private func view(_ request: Request, context: PeerRequestContext) async throws -> Response {
    let client = try context.authorized()
    if request.method == .head { return Response(status: .ok, headers: JSONAnswer.headers) }
    // The client may have been revoked since it was authenticated.
    guard let record = try await registry.clients().first(where: { $0.id == client.id }), record.revoked == nil else {
      throw ServerFailure.unauthorized
    }
    var view = PairingView(
      address: context.remoteAddress, scope: record.scope, onlyDaily: record.isOnlyDaily,
      lastSeen: client.lastSeen.map(Self.instant), expires: Self.instant(record.expires),
      lowSpace: try await isLow(), following: nil)
    // A machine's ID as a client derives from its certificate; its ID as a server is another.
    let server = try await registry.servers().first { PeerID(certificate: $0.fingerprint) == client.id }
    if let server { view.following = await way.following(server) }
    // An answer that cannot be recorded is not sent.
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
