import Hummingbird

/// Middleware that limits the responses in flight for one client; its other requests queue.
///
/// A response holds a page of samples, or all of its body, in memory for as long as its reader takes. So a client that
/// leaves responses unread holds a bounded number of them, and delays nobody but itself.
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
  /// What a channel buffers before it asks writers to wait.
  static let bufferedBytes = 64 * 1024

  /// Whether sending it may take as long as its reader likes.
  var mayWait: Bool { contentLength.map { $0 > Self.bufferedBytes } ?? true }
}
