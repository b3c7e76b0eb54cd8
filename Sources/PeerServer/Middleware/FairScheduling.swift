import HTTPTypes
import Hummingbird
import NIOCore

/// Middleware that schedules paired clients fairly (round robin) and writes streamed bodies in small pieces.
///
/// A client holds a permit while its response, or a page of it, is read and encoded, but not while it is written, so
/// that slow clients delay no others. TLS encrypts everything written in one call into memory. Without pieces, the
/// server would hold a whole page twice for a client that does not read.
struct FairScheduling: RouterMiddleware {
  let semaphore: FairSemaphore

  func handle(
    _ request: Request, context: PeerRequestContext,
    next: (Request, PeerRequestContext) async throws -> Response
  ) async throws -> Response {
    let client = try context.authorized()
    let permit = try await semaphore.acquire(client.id)
    defer { permit.release() }
    var context = context
    context.storePermit = permit
    var response = try await next(request, context)
    guard response.body.contentLength == nil else { return response }
    let body = response.body
    response.body = ResponseBody { writer in
      try await body.write(PiecewiseWriter(base: writer, pieceBytes: ResponseBody.bufferedBytes))
    }
    return response
  }
}

private struct PiecewiseWriter: ResponseBodyWriter {
  var base: any ResponseBodyWriter
  let pieceBytes: Int

  mutating func write(_ buffer: ByteBuffer) async throws {
    var rest = buffer
    while rest.readableBytes > 0, let piece = rest.readSlice(length: min(rest.readableBytes, pieceBytes)) {
      try await base.write(piece)
    }
  }

  consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
    try await base.finish(trailingHeaders)
  }
}
