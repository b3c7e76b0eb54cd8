import Hummingbird

/// Middleware that suspends requests until the server's start is in the audit log, so that no read is recorded before
/// the server that answered it.
struct AfterStart: RouterMiddleware {
  let start: Task<Void, Never>

  func handle(
    _ request: Request, context: PeerRequestContext,
    next: (Request, PeerRequestContext) async throws -> Response
  ) async throws -> Response {
    await start.value
    return try await next(request, context)
  }
}
