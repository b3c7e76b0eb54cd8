import NIOCore

/// Passes on the head of the first HTTP request, up to its empty line, and ends the connection of one that sends none in time or
/// a longer one.
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
    // What follows is a body or another request: neither is answered.
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
