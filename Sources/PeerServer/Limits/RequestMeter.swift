import NIOCore

/// Stands between TLS and the HTTP decoder: counts what a request costs on the wire, which the decoder hides.
final class RequestMeter: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let watch: RequestWatch
  private let limit: Int
  private var bytes = 0

  init(watch: RequestWatch, limit: Int) {
    self.watch = watch
    self.limit = limit
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // What comes after the last answer is read only to be thrown away: unread, it would have the kernel reset the
    // connection and the answer with it.
    guard !watch.readsNoMore else { return }
    let before = watch.requestsRead
    bytes += unwrapInboundIn(data).readableBytes
    watch.bytesArrived()
    context.fireChannelRead(data)
    if watch.requestsRead != before { bytes = 0 }
    if bytes > limit { watch.requestIsTooBig() }
  }
}
