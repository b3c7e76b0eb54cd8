import NIOCore
import NIOHTTP1

/// A channel handler that rejects answers that would make AsyncHTTPClient crash or wait forever.
///
/// A status below 100 is no HTTP (RFC 9110, section 15): NIO passes such an answer on, and AsyncHTTPClient takes it
/// for interim and then ends the process at its end. 101 is rejected because no protocol switch was requested
/// (section 15.2.2). Interim answers, such as 100, are limited in number: a server may send them without end.
final class ResponseStatusCheck: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart

  private static let mostInterim = 100

  private var interim = 0
  private var hasFailed = false

  /// Adds a handler between the decoder of a client's connection and the client.
  @Sendable static func add(to channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.submit {
      let pipeline = channel.pipeline.syncOperations
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
      try pipeline.addHandler(ResponseStatusCheck(), position: .after(decoder))
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if hasFailed { return }
    if case .head(let head) = unwrapInboundIn(data) {
      interim = (100..<200).contains(head.status.code) ? interim + 1 : 0
      if head.status.code < 100 || head.status.code == 101 || interim > Self.mostInterim {
        hasFailed = true
        context.fireErrorCaught(HTTPParserError.invalidStatus)
        context.close(promise: nil)
        return
      }
    }
    context.fireChannelRead(data)
  }
}
