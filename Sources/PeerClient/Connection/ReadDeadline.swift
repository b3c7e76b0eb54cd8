import NIOCore
import PeerProtocol

/// Ends a connection whose peer stays silent, or sends next to nothing, although we are ready to read.
///
/// What arrives is counted for each request, so that a connection over which one asks now and then whether there is
/// anything new may live for months, and no single answer may drip.
///
/// The clock runs only while a read is wanted, so that a slow store on our side is never taken for a silent peer.
final class ReadDeadline: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  enum Passed: Error {
    /// No byte was received for the whole limit.
    case silence
    /// Bytes came, but too few in ``patience(_:)`` of waiting: a peer that sends one byte each half minute is never
    /// silent, and never done.
    case trickle
  }

  /// How long to wait in all for each `ClientLimits.leastBytes`, with this limit on silence.
  static func patience(_ silenceLimit: TimeAmount) -> TimeAmount { silenceLimit * 2 }

  private let limit: TimeAmount
  private let leastBytes: Int
  private var timer: Scheduled<Void>?
  private var waitingSince: NIODeadline?
  private var waited = TimeAmount.zero
  private var received = 0
  private var context: ChannelHandlerContext?

  init(_ limit: TimeAmount, leastBytes: Int = ClientLimits().leastBytes) {
    self.limit = limit
    self.leastBytes = leastBytes
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  func read(context: ChannelHandlerContext) {
    if timer == nil { start(context) }
    context.read()
  }

  /// A request leaves over this connection: its answer has the whole time. On the connection's event loop.
  func requestBegins() {
    (received, waited) = (0, .zero)
    guard let context, timer != nil else { return }
    stop()
    start(context)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if let waitingSince { waited = waited + (context.eventLoop.now - waitingSince) }
    stop()
    received += unwrapInboundIn(data).readableBytes
    if received >= leastBytes { (received, waited) = (0, .zero) }
    context.fireChannelRead(data)
  }

  func channelInactive(context: ChannelHandlerContext) {
    stop()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    stop()
    self.context = nil
  }

  private func start(_ context: ChannelHandlerContext) {
    waitingSince = context.eventLoop.now
    let rest = Self.patience(limit) - waited
    let (delay, reason) = rest < limit ? (rest, Passed.trickle) : (limit, .silence)
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
      context.fireErrorCaught(reason)
      context.close(promise: nil)
    }
  }

  private func stop() {
    timer?.cancel()
    timer = nil
    waitingSince = nil
  }
}
