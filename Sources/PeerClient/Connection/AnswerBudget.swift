import NIOCore
import PeerProtocol

/// Ends a connection whose answer has more beside its body than any has: heads without end, 1xx answers, extensions of
/// chunks, trailers. Stands before the HTTP decoder, and is told by ``RequestMark`` what that made of the bytes.
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

  /// A request leaves over this connection.
  func requestBegins() {
    (received, body) = (0, 0)
  }

  func bodyArrives(_ bytes: Int) {
    body += bytes
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received += unwrapInboundIn(data).readableBytes
    // Decoded before this returns.
    context.fireChannelRead(data)
    guard received - body > limits.framingBytes + body * limits.framingPerBodyByte else { return }
    context.fireErrorCaught(Exceeded())
    context.close(promise: nil)
  }
}
