import Hummingbird

/// Keeps requests waiting until the server's start is in the audit log: what is read after it was read from this server.
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
