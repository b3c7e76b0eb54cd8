import HTTPTypes
import Hummingbird
import PeerProtocol
import PeerTrust

/// `DELETE /api/v2/pairing`: a client ends its own pairing; its token is refused from then on.
struct PairedRoutes {
  let registry: PeerRegistry
  let audit: AuditTrail

  func add(to router: RouterGroup<PeerRequestContext>) {
    router.delete(RouterPath(Route.pairing), use: end)
  }

  @Sendable private func end(_ request: Request, context: PeerRequestContext) async throws -> Response {
    guard let client = context.client else { throw ServerFailure.unauthorized }
    try await registry.revoke(id: client.id)
    await audit.record(.pairingEnded, ["peer": client.name, "id": client.id.hex, "by": "peer"])
    return JSONAnswer.response(Envelope([String: String]()))
  }
}
