import NIOCore
import NIOHTTP1

/// Takes an answer with a status below 100 for what it is, no HTTP (RFC 9110, section 15): NIO hands it on as an
/// answer, and AsyncHTTPClient passes it over as interim and then ends the process at the end of the answer that it has
/// not seen begin. So is 101, which switches to a protocol that was not asked for (section 15.2.2), and says nothing of
/// the request. Of interim answers, such as 100, only so many are passed over: a server may send them without end.
final class ResponseStatusCheck: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart

  private static let mostInterim = 100

  private var interim = 0
  private var hasFailed = false

  /// Puts one between the decoder of a client's connection and the client.
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
