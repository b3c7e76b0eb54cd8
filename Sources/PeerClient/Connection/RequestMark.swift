import NIOCore
import NIOHTTP1

/// Tells ``ReadDeadline`` and ``AnswerBudget``, which see only bytes, that a request leaves and that a body arrives.
final class RequestMark: ChannelDuplexHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart
  typealias OutboundIn = HTTPClientRequestPart
  typealias OutboundOut = HTTPClientRequestPart

  private let deadline: ReadDeadline
  private let budget: AnswerBudget

  init(_ deadline: ReadDeadline, _ budget: AnswerBudget) {
    self.deadline = deadline
    self.budget = budget
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .head = unwrapOutboundIn(data) {
      deadline.requestBegins()
      budget.requestBegins()
    }
    context.write(data, promise: promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .body(let bytes) = unwrapInboundIn(data) { budget.bodyArrives(bytes.readableBytes) }
    context.fireChannelRead(data)
  }
}
