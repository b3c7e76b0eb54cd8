import Foundation
import HTTPTypes
import HealthStore
import Hummingbird
import NIOCore
import PeerProtocol
import PeerTrust

/// The routes `GET /status` and `GET /openapi.yaml`, which need no token.
struct StatusRoutes: EndpointGroup {
  static let endpoints: [Endpoint<Self>] = [
    Endpoint(.get, Route.status, for: .anyone, status),
    Endpoint(.get, Route.openAPI, for: .anyone, openAPI),
  ]

  let store: HealthStore
  let audit: AuditTrail
  let authentication: BearerAuthentication
  let responses: FairSemaphore
  let name: String
  let version: String
  let id: PeerID

  /// Answers with the server's status. Only a paired caller gets the number of types.
  @Sendable private func status(_ request: Request, context: PeerRequestContext) async throws -> Response {
    var context = context
    var types = 0
    var homeZone: String?
    if let client = try? await authentication.authenticate(request, &context).get(), !client.isLocked {
      let permit = try await responses.acquire(client.id)
      defer { permit.release() }
      types = try await client.scope.typeCounts(in: store).count
      // The time zone hints at where the person lives, so a client with a limited scope does not get it.
      if client.scope.isEverything { homeZone = try await store.settings.current().homeZone }
      // An answer that cannot be recorded is not sent.
      try await audit.toldStatus(client, types: types)
    }
    return JSONAnswer.response(
      Envelope(
        StatusData(
          version: version, deviceName: name, availableTypes: types, id: id.hex, time: Date().timeIntervalSince1970,
          homeZone: homeZone)))
  }

  @Sendable private func openAPI(_ request: Request, context: PeerRequestContext) -> Response {
    Response(
      status: .ok, headers: [.contentType: "application/yaml"],
      body: .init(byteBuffer: ByteBuffer(bytes: PackageResources.openapi_yaml)))
  }
}
