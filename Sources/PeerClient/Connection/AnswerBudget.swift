import NIOCore
import PeerProtocol

/// A handler that closes a connection whose answer has too many bytes outside its body: endless heads, 1xx answers,
/// chunk extensions, trailers. It stands before the HTTP decoder; ``RequestMark`` reports the decoded body bytes.
final class AnswerBudget: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  struct Exceeded: Error {}

  private let limits: ClientLimits
  private var received = 0
  private var body = 0

  init(_ limits: ClientLimits) {
    self.limits = limits
  }

  /// Resets the counts because a new request is sent over this connection.
  func requestBegins() {
    (received, body) = (0, 0)
  }

  func bodyArrives(_ bytes: Int) {
    body += bytes
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received += unwrapInboundIn(data).readableBytes
    // The decoder has processed the bytes when this returns.
    context.fireChannelRead(data)
    guard received - body > limits.framingBytes + body * limits.framingPerBodyByte else { return }
    context.fireErrorCaught(Exceeded())
    context.close(promise: nil)
  }
}
