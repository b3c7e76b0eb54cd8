import HTTPTypes
import Hummingbird

/// Middleware that refuses an HTTP/1.1 request without exactly one Host field (RFC 9112 section 3.2), because a proxy
/// might have read another host. ``RequestWatch`` adds the field to HTTP/1.0 requests.
struct HostCheck: RouterMiddleware {
  func handle(
    _ request: Request, context: PeerRequestContext,
    next: (Request, PeerRequestContext) async throws -> Response
  ) async throws -> Response {
    // Hummingbird takes the first Host field as the authority and leaves others in the header fields.
    guard let host = request.head.authority, !request.headers.contains(where: { $0.name.canonicalName == "host" }),
      Self.isValid(host)
    else {
      throw ServerFailure(
        status: .badRequest, message: "The request must have one Host field", headers: [.connection: "close"])
    }
    return try await next(request, context)
  }

  /// Returns whether the text is an authority of RFC 3986 section 3.2 without user information. It is empty if the
  /// target has no authority.
  private static func isValid(_ host: String) -> Bool {
    host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && !"/?#@,<>\"\\^`{|}".utf8.contains($0) }
  }
}

/// Middleware that suspends requests until the server's start is in the audit log, so that no read is recorded before
/// it.
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
