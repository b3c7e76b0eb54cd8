import Foundation
import HTTPTypes
import HealthStore
import Hummingbird
import NIOCore
import PeerProtocol
import PeerTrust

/// `GET /status` and `GET /openapi.yaml`, open to everyone.
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

  /// How much the record holds is told only to a paired caller.
  @Sendable private func status(_ request: Request, context: PeerRequestContext) async throws -> Response {
    var context = context
    var types = 0
    var homeZone: String?
    if let client = try? await authentication.authenticate(request, &context).get(), !client.isLocked {
      let permit = try await responses.acquire(client.id)
      defer { permit.release() }
      types = try await client.scope.typeCounts(in: store).count
      // Where the person lives is nothing for one who is given a part of the record.
      if client.scope.isEverything { homeZone = try await store.settings.current().homeZone }
      // What cannot be written down is not said.
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
