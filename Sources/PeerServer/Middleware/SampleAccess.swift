import Hummingbird

/// Refuses those who may have numbers of days, and no samples.
struct SampleAccess: RouterMiddleware {
  func handle(
    _ request: Request, context: PeerRequestContext,
    next: (Request, PeerRequestContext) async throws -> Response
  ) async throws -> Response {
    if try context.authorized().scope.isOnlyDaily { throw ServerFailure.onlyDaily }
    return try await next(request, context)
  }
}
