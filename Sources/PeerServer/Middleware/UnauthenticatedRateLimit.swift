import HTTPTypes
import Hummingbird
import NIOCore

/// Middleware that rate-limits callers without a valid token. A caller that shows one is never held back here, whatever
/// others behind the same address do.
struct UnauthenticatedRateLimit: RouterMiddleware {
  let budget: RequestBudget
  let authentication: BearerAuthentication

  func handle(
    _ request: Request, context: PeerRequestContext,
    next: (Request, PeerRequestContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    if try await isPaired(request, &context) { return try await next(request, context) }
    switch context.connection?.refusal {
    case .address: throw ServerFailure.tooMany(retryAfter: 5, closing: true)
    case .server: throw ServerFailure.tooBusy
    case nil: break
    }
    if let seconds = budget.take(context.addressGroup) {
      // Each guess at a token has cost a look into the registry: the next shall cost a handshake.
      throw ServerFailure.tooMany(retryAfter: seconds, closing: request.headers[.authorization] != nil)
    }
    return try await next(request, context)
  }

  private func isPaired(_ request: Request, _ context: inout PeerRequestContext) async throws -> Bool {
    if context.connection?.isPaired == true { return true }
    guard request.headers[.authorization] != nil else { return false }
    guard case .success = try await authentication.authenticate(request, &context) else { return false }
    return true
  }
}
