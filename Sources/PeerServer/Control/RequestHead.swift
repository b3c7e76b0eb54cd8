import NIOCore

/// A handler that passes on the head of the first HTTP request, up to its empty line. It closes the connection if the
/// head is too long or does not arrive in time.
final class RequestHead: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private static let maximumBytes = 8 * 1024
  private static let end = Array("\r\n\r\n".utf8)

  private let timeout: TimeAmount
  private var deadline: Scheduled<Void>?
  private var head = ByteBuffer()
  private var isPassedOn = false

  init(timeout: TimeAmount) {
    self.timeout = timeout
  }

  func channelActive(context: ChannelHandlerContext) {
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { context.close(promise: nil) }
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // Further bytes are a body or another request, which this server does not answer.
    guard !isPassedOn else { return }
    var bytes = unwrapInboundIn(data)
    head.writeBuffer(&bytes)
    guard head.readableBytes <= Self.maximumBytes else { return context.close(promise: nil) }
    guard head.readableBytesView.firstRange(of: Self.end) != nil else { return }
    deadline?.cancel()
    isPassedOn = true
    context.fireChannelRead(wrapInboundOut(head))
  }
}
