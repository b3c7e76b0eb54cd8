import NIOCore
import NIOHTTP1

/// Tells ``ReadDeadline``, which sees only encrypted bytes, that a request leaves.
final class RequestMark: ChannelOutboundHandler {
  typealias OutboundIn = HTTPClientRequestPart
  typealias OutboundOut = HTTPClientRequestPart

  private let deadline: ReadDeadline

  init(_ deadline: ReadDeadline) {
    self.deadline = deadline
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .head = unwrapOutboundIn(data) { deadline.requestBegins() }
    context.write(data, promise: promise)
  }
}
