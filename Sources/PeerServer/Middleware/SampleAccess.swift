import Hummingbird

/// Middleware that refuses clients that may only read daily values, not samples.
struct SampleAccess: RouterMiddleware {
  func handle(
    _ request: Request, context: PeerRequestContext,
    next: (Request, PeerRequestContext) async throws -> Response
  ) async throws -> Response {
    if try context.authorized().scope.isOnlyDaily { throw ServerFailure.onlyDaily }
    return try await next(request, context)
  }
}
