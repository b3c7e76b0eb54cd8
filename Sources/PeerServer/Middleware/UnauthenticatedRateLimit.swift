import HTTPTypes
import Hummingbird
import NIOCore

/// Middleware that rate-limits callers without a valid token. It never delays a caller with a valid token, regardless
/// of other callers from the same address.
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
      // Each guessed token costs a registry lookup, so the next guess should cost a handshake.
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
