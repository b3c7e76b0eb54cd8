import Hummingbird

/// Middleware that limits the concurrent responses to one client and queues its other requests.
///
/// A response holds a page of samples, or its whole body, in memory until the client has read it. The limit bounds
/// the memory that a client can occupy by leaving responses unread, and such a client delays only itself.
struct ResponseLimit: RouterMiddleware {
  let semaphore: FairSemaphore

  func handle(
    _ request: Request, context: PeerRequestContext,
    next: (Request, PeerRequestContext) async throws -> Response
  ) async throws -> Response {
    let client = try context.authorized()
    let permit = try await semaphore.acquire(client.id)
    var context = context
    context.responsePermit = permit
    var response = try await next(request, context)
    guard response.body.mayWait else { return response }
    let body = response.body
    response.body = ResponseBody(contentLength: body.contentLength) { writer in
      defer { permit.release() }
      try await body.write(writer)
    }
    return response
  }
}

extension ResponseBody {
  /// The number of bytes that a channel buffers before writers must wait.
  static let bufferedBytes = 64 * 1024

  /// Whether sending the body may take as long as its reader chooses.
  var mayWait: Bool { contentLength.map { $0 > Self.bufferedBytes } ?? true }
}
