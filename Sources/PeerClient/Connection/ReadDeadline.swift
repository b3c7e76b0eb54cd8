import NIOCore
import PeerProtocol

/// A handler that closes a connection if the peer sends nothing, or almost nothing, while a read is pending.
///
/// Bytes are counted per request. A connection with an occasional request may therefore live for months, but no
/// single answer can trickle.
///
/// The timer runs only while a read is pending, so a slow local store is never taken for a silent peer.
final class ReadDeadline: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  enum Passed: Error {
    /// No byte was received within the limit.
    case silence
    /// Too few bytes were received within ``patience(_:)``: a peer that sends one byte every half minute is never
    /// silent and never done.
    case trickle
  }

  /// Returns the total waiting time allowed for each `ClientLimits.leastBytes`, given the limit on silence.
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

  /// Restarts the deadline because a new request is sent over this connection. Call this on the connection's event
  /// loop.
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
