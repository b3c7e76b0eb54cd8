import Hummingbird
import NIOCore

/// Middleware that rechecks a client's authorization before a response begins and before each page of it, and ends
/// the response if the client has lost it. Revoking a token or narrowing a scope takes effect immediately, not with
/// the next request.
struct AuthorizationRecheck: RouterMiddleware {
  let authentication: BearerAuthentication
  let limits: ServingLimits
  var clock: any Clock<Duration> = ContinuousClock()

  func handle(
    _ request: Request, context: PeerRequestContext,
    next: (Request, PeerRequestContext) async throws -> Response
  ) async throws -> Response {
    let client = try context.authorized()
    var context = context
    let granted = GrantedScope(client.scope)
    context.granted = granted
    var response = try await next(request, context)
    let right = Right(authentication: authentication, request: request, context: context, granted: granted)
    try await right.require()
    guard response.body.mayWait else { return response }
    let body = response.body
    let (connection, interval, clock) = (context.connection, limits.rightRecheck, clock)
    response.body = ResponseBody(contentLength: body.contentLength) { writer in
      let base = writer
      try await withThrowingTaskGroup(of: Void.self) { group in
        // Rechecks also while a slow reader takes its time over one page.
        group.addTask {
          repeat {
            try await clock.sleep(for: interval)
          } while await right.isHeld()
          connection?.abort()
        }
        defer { group.cancelAll() }
        try await body.write(CheckedWriter(base: base, right: right))
      }
    }
    return response
  }
}

private struct Right: Sendable {
  let authentication: BearerAuthentication
  let request: Request
  let context: PeerRequestContext
  let granted: GrantedScope

  /// Throws ``ServerFailure`` 401 for a token that is no longer valid, or 503 for a changed scope.
  func require() async throws {
    var context = context
    context.authentication = nil
    guard try await authentication.authorize(request, &context).scope == granted.value else {
      throw ServerFailure.scopeChanged
    }
  }

  /// Returns false only if the authorization is known to be lost. An unreadable registry does not end a response
  /// between two pages.
  func isHeld() async -> Bool {
    do {
      try await require()
      return true
    } catch {
      return !(error is ServerFailure)
    }
  }
}

private struct CheckedWriter: ResponseBodyWriter {
  var base: any ResponseBodyWriter
  let right: Right

  mutating func write(_ buffer: ByteBuffer) async throws {
    try await right.require()
    try await base.write(buffer)
  }

  consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
    try await base.finish(trailingHeaders)
  }
}
