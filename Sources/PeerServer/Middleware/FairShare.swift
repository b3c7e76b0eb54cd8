import HTTPTypes
import Hummingbird
import NIOCore

/// Middleware that schedules paired clients fairly (round robin), and writes streamed bodies in small pieces.
///
/// A client occupies a place in the gate while its answer, or a page of it, is read and encoded, and none while it is
/// written, so that slow clients hold up nobody. TLS turns whatever is written in one call into as many encrypted bytes
/// in memory, so that a client that does not read would have the server keep a whole page twice.
struct FairShare: RouterMiddleware {
  let gate: WorkGate

  func handle(
    _ request: Request, context: PeerRequestContext,
    next: (Request, PeerRequestContext) async throws -> Response
  ) async throws -> Response {
    let client = try context.authorized()
    let place = try await gate.enter(client.id)
    defer { place.leave() }
    var context = context
    context.place = place
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
