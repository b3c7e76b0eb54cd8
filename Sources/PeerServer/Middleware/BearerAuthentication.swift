import HTTPTypes
import HealthModel
import HealthStore
import Hummingbird
import PeerProtocol
import PeerTrust

/// Lets a request through only with a valid token (RFC 6750 section 2.1). The registry is asked every time, so that a
/// revoked token is refused at once, whichever process revoked it.
struct BearerAuthentication: RouterMiddleware {
  let registry: PeerRegistry
  let audit: AuditTrail

  func handle(
    _ request: Request, context: PeerRequestContext,
    next: (Request, PeerRequestContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    context.client = try await authorize(request, context)
    return try await next(request, context)
  }

  /// The client that a request's token belongs to. Writes down that it is refused, and throws ``ServerFailure`` 401.
  func authorize(_ request: Request, _ context: PeerRequestContext) async throws -> AuthorizedClient {
    do {
      return try await client(of: request, context)
    } catch let refusal as Refusal {
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

  /// The client that a request's token belongs to. Throws ``Refusal``.
  func client(of request: Request, _ context: PeerRequestContext) async throws -> AuthorizedClient {
    guard let header = request.headers[.authorization], header.utf8.count <= 600,
      header.prefix(7).lowercased() == "bearer ", let token = BearerToken(text: header.dropFirst(7))
    else { throw Refusal.missing }
    let client: ClientAuthorization
    let certificate = try await context.clientFingerprint()
    switch try await registry.client(tokenHash: token.hash, certificate: certificate) {
    case .failure(let refusal): throw Refusal.token(refusal)
    case .success(let authorization): client = authorization
    }
    try ServingConnection.current?.showToken()
    try await registry.touch(client)
    return AuthorizedClient(client)
  }
}

extension AuthorizedClient {
  init(_ client: ClientAuthorization) {
    id = client.id
    name = client.name
    filter = ChangeFilter(
      types: client.scope.types.map { Set($0.map { SampleType($0) }) },
      earliest: client.scope.earliest.map {
        Timestamp(microseconds: Int64(($0.timeIntervalSince1970 * 1_000_000).rounded()))
      })
    isForeign = client.method == .plain
  }
}
