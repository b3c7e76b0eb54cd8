import HTTPTypes
import Hummingbird
import PeerProtocol
import PeerTrust

/// `DELETE /api/v2/pairing`: a client ends its own pairing; its token is refused from then on.
struct PairedRoutes: EndpointGroup {
  static let endpoints: [Endpoint<Self>] = [
    // Its answer is that the right has ended.
    Endpoint(.delete, Route.pairing, for: .paired, end)
  ]

  let registry: PeerRegistry
  let audit: AuditTrail

  @Sendable private func end(_ request: Request, context: PeerRequestContext) async throws -> Response {
    let client = try context.authorized()
    try await registry.revoke(id: client.id)
    await audit.record(.pairingEnded, ["peer": client.name, "id": client.id.hex, "by": "peer"])
    return JSONAnswer.response(Envelope([String: String]()))
  }
}
