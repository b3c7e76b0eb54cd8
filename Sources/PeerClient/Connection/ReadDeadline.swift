import NIOCore

/// Ends a connection whose peer stays silent although we are ready to read.
///
/// The clock runs only while a read is wanted, so that a slow store on our side is never taken for a silent peer.
final class ReadDeadline: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  struct Passed: Error {}

  private let limit: TimeAmount
  private var timer: Scheduled<Void>?

  init(_ limit: TimeAmount) {
    self.limit = limit
  }

  func read(context: ChannelHandlerContext) {
    if timer == nil {
      timer = context.eventLoop.assumeIsolated().scheduleTask(in: limit) {
        context.fireErrorCaught(Passed())
        context.close(promise: nil)
      }
    }
    context.read()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    stop()
    context.fireChannelRead(data)
  }

  func channelInactive(context: ChannelHandlerContext) {
    stop()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    stop()
  }

  private func stop() {
    timer?.cancel()
    timer = nil
  }
}
