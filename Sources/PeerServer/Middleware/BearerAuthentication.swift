import Foundation
import HTTPTypes
import HealthModel
import HealthStore
import Hummingbird
import PeerProtocol
import PeerTrust

/// Middleware that only passes requests with a valid token (RFC 6750 section 2.1). It asks the registry about every
/// request, so that a revoked token is refused at once, regardless of which process revoked it.
struct BearerAuthentication: RouterMiddleware {
  let registry: PeerRegistry
  let audit: AuditTrail

  func handle(
    _ request: Request, context: PeerRequestContext,
    next: (Request, PeerRequestContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    _ = try await authorize(request, &context)
    return try await next(request, context)
  }

  /// Returns the client of a request's token; see ``authenticate(_:_:)``. Otherwise records the refusal and throws
  /// ``ServerFailure`` 401, or 423 while the owner has locked this machine.
  func authorize(_ request: Request, _ context: inout PeerRequestContext) async throws -> AuthorizedClient {
    switch try await authenticate(request, &context) {
    case .success(let client) where client.isLocked:
      await audit.refused("locked", address: context.remoteAddress, client: client.id)
      throw ServerFailure.locked
    case .success(let client): return client
    case .failure(let refusal):
      await audit.refused(refusal.reason, address: context.remoteAddress, client: refusal.client)
      throw ServerFailure.unauthorized
    }
  }

  enum Refusal: Error {
    case missing
    case token(ClientRefusal)

    var reason: String {
      switch self {
      case .missing: "missing"
      case .token(.unknown): "unknown"
      case .token(.revoked): "revoked"
      case .token(.expired): "expired"
      case .token(.wrongCertificate): "wrongCertificate"
      }
    }

    var client: PeerID? {
      if case .token(.wrongCertificate(let id)) = self { id } else { nil }
    }
  }

  /// Returns the client of a request's token. The result is cached in `context`.
  func authenticate(
    _ request: Request, _ context: inout PeerRequestContext
  ) async throws -> Result<AuthorizedClient, Refusal> {
    if let known = context.authentication { return known }
    let answer = try await ask(request, context)
    context.authentication = answer
    return answer
  }

  private func ask(
    _ request: Request, _ context: PeerRequestContext
  ) async throws -> Result<AuthorizedClient, Refusal> {
    guard let header = request.headers[.authorization], header.utf8.count <= 600,
      header.prefix(7).lowercased() == "bearer ", let token = BearerToken(text: header.dropFirst(7))
    else { return .failure(.missing) }
    let certificate = try await context.clientFingerprint()
    switch try await registry.client(tokenHash: token.hash, certificate: certificate) {
    case .failure(.wrongCertificate(let id)):
      guard let client = try await follow(request, token, certificate) else {
        return .failure(.token(.wrongCertificate(of: id)))
      }
      try ServingConnection.current?.showToken(of: client.id)
      return .success(AuthorizedClient(client))
    case .failure(let refusal): return .failure(.token(refusal))
    case .success(var client):
      try ServingConnection.current?.showToken(of: client.id)
      let name = Self.nameField.flatMap { request.headers[$0] }.flatMap(PeerName.decoded)
      if try await registry.touch(client, name: name), let name {
        await audit.record(.peerRenamed, ["peer": name, "id": client.id.hex, "before": client.name])
        client.name = name
      }
      return .success(AuthorizedClient(client))
    }
  }

  /// Returns the client of a bound token that came with a new certificate, if a statement signed with the old key
  /// confirms the new certificate.
  private func follow(
    _ request: Request, _ token: BearerToken, _ certificate: Fingerprint?
  ) async throws -> ClientAuthorization? {
    guard let certificate, let statement = request.rotation,
      let (client, formerID) = try await registry.follow(statement, to: certificate, tokenHash: token.hash)
    else { return nil }
    await audit.rotated(client.name, from: formerID, to: client.id)
    return client
  }

  private static let nameField = HTTPField.Name(PeerName.header)
}

extension AuthorizedClient {
  init(_ client: ClientAuthorization) {
    id = client.id
    name = client.name
    token = client.tokenHash
    scope = ClientScope(client.scope, isOnlyDaily: client.isOnlyDaily)
    isForeign = client.method == .plain
    lastSeen = client.lastSeen
    isLocked = client.isLocked
  }
}

/// The authenticated client of a request and its permissions.
struct AuthorizedClient: Sendable {
  var id: PeerID
  /// The name chosen by the client; treat it as hostile text.
  var name: String
  /// The hash of the request's token.
  var token: TokenHash
  var scope: ClientScope
  /// Whether the client paired by plain code, as other apps' clients do.
  var isForeign: Bool
  /// The time of the token's previous use; `nil` for the first.
  var lastSeen: Date?
  /// Whether the owner has locked this machine, so that no client is answered.
  var isLocked = false
}
