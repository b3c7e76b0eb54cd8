import HTTPTypes
import Hummingbird

/// Refuses a request of HTTP/1.1 that does not say once which host it is for (RFC 9112 section 3.2): what stands between
/// might have read another. ``RequestWatch`` sees to it that one of HTTP/1.0 says so.
struct HostCheck: RouterMiddleware {
  func handle(
    _ request: Request, context: PeerRequestContext,
    next: (Request, PeerRequestContext) async throws -> Response
  ) async throws -> Response {
    // The first is the authority, all others stay fields.
    guard let host = request.head.authority, !request.headers.contains(where: { $0.name.canonicalName == "host" }),
      Self.isValid(host)
    else {
      throw ServerFailure(
        status: .badRequest, message: "The request must have one Host field", headers: [.connection: "close"])
    }
    return try await next(request, context)
  }

  /// RFC 3986 section 3.2, user information left out. Empty where the target has no authority.
  private static func isValid(_ host: String) -> Bool {
    host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && !"/?#@,<>\"\\^`{|}".utf8.contains($0) }
  }
}

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
