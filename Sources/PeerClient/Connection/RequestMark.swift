import NIOCore
import NIOHTTP1

/// A handler that tells ``ReadDeadline`` and ``AnswerBudget``, which only see bytes, about sent requests and received
/// body bytes.
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
