import NIOCore

/// A handler below TLS that admits the connection, closes it if the other side stops reading, and can abort it at
/// once.
final class ConnectionGuard: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = IOData

  private let connection: ServingConnection
  private let table: ConnectionTable
  private let limits: ServingLimits
  private var stall: Scheduled<Void>?
  private var isShuttingDown = false

  init(_ connection: ServingConnection, table: ConnectionTable, limits: ServingLimits) {
    self.connection = connection
    self.table = table
    self.limits = limits
  }

  func channelActive(context: ChannelHandlerContext) {
    // The address is unknown before the channel is active.
    switch table.admit(connection, from: AddressGroup(context.remoteAddress)) {
    case .dropped:
      context.close(promise: nil)
    case .admitted(let replaced):
      context.channel.closeFuture.whenComplete { [table, connection] _ in table.remove(connection) }
      replaced?.abort()
      context.fireChannelActive()
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    stall?.cancel()
    stall = nil
    context.fireChannelInactive()
  }

  /// Called when the send buffer becomes full or has drained.
  func channelWritabilityChanged(context: ChannelHandlerContext) {
    watchForStall(context)
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent {
      isShuttingDown = true
      watchForStall(context)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
    if event is ConnectionAbort {
      context.close(promise: promise)
    } else {
      context.triggerUserOutboundEvent(event, promise: promise)
    }
  }

  private func watchForStall(_ context: ChannelHandlerContext) {
    stall?.cancel()
    stall = nil
    guard !context.channel.isWritable else { return }
    let limit = connection.isPaired ? limits.stalledClient : limits.stalledStranger
    stall = context.eventLoop.assumeIsolated().scheduleTask(
      in: TimeAmount(isShuttingDown ? limits.shutdown : limit)
    ) {
      context.close(promise: nil)
    }
  }
}
