import Glibc
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// An HTTP/1.1 channel, with or without TLS, that applies ``ServingLimits`` at every level of the pipeline.
struct GuardedChannel: ServerChildChannel {
  typealias Base = HTTP1Channel

  private let base: Base
  private let security: any ConnectionSecurity
  private let table: ConnectionTable
  private let limits: ServingLimits

  init(
    responder: @escaping HTTPChannelHandler.Responder, security: any ConnectionSecurity, table: ConnectionTable,
    limits: ServingLimits
  ) {
    base = HTTP1Channel(
      responder: responder,
      configuration: .init(
        additionalChannelHandlers: [StalledPeer()],
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: limits.headBytes, maxHeaderListSize: limits.headBytes,
          maxHeaderFieldCount: limits.headFields)))
    self.security = security
    self.table = table
    self.limits = limits
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
    base.setup(channel: channel, logger: logger).flatMapThrowing { value in
      let connection = ServingConnection(channel, table: table)
      let accepted = AcceptedConnection(value, connection)
      let watch = RequestWatch(connection, limits: limits)
      let pipeline = channel.pipeline.syncOperations
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try pipeline.addHandler(watch, position: .after(decoder))
      try pipeline.addHandler(RequestMeter(watch: watch, limit: limits.requestBytes), position: .first)
      try security.install(in: pipeline, limits)
      try pipeline.addHandler(ConnectionGuard(connection, table: table, limits: limits), position: .first)
      return accepted
    }
  }

  func handle(value: AcceptedConnection, logger: Logger) async {
    guard let channel = value.take() else { return }
    await ServingConnection.$current.withValue(value.connection) {
      await base.handle(value: channel, logger: logger)
    }
  }
}

/// A connection between its acceptance and the task that serves it.
///
/// If the listener ends in between, no task takes the connection. NIO stops the process unless every async channel is
/// finished explicitly, so this type does that.
final class AcceptedConnection: ServerChildChannelValue {
  let connection: ServingConnection
  private let value: DisposableBox<GuardedChannel.Base.Value>

  init(_ value: GuardedChannel.Base.Value, _ connection: ServingConnection) {
    self.value = DisposableBox(value) { try await $0.executeThenClose { _, _ in } }
    self.connection = connection
    channel = value.channel
  }

  let channel: any Channel

  func take() -> GuardedChannel.Base.Value? { value.take() }
}

/// A handler between TLS and the HTTP decoder that counts the bytes of a request on the wire, which the decoder
/// hides.
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
    // Bytes after the last answer are read and discarded. If they stayed unread, the kernel would reset the
    // connection and lose the answer.
    guard !watch.readsNoMore else { return }
    let before = watch.requestsRead
    bytes += unwrapInboundIn(data).readableBytes
    watch.bytesArrived()
    context.fireChannelRead(data)
    if watch.requestsRead != before { bytes = 0 }
    if bytes > limit { watch.requestIsTooBig() }
  }
}

/// A handler that sets socket options so that the kernel ends connections whose other side is gone or has stopped
/// reading.
///
/// A response in progress has no idle timeout. Without this, a peer that falls asleep during a pull would hold its
/// connection and a page of samples forever.
final class StalledPeer: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  /// The number of milliseconds that sent data may stay unacknowledged, or unsent before a closed window (RFC 5482;
  /// tcp(7)). Longer than a client's store may keep the server waiting.
  private static let userTimeout: SocketOptionValue = 120_000

  /// The bytes that the kernel buffers in addition to those in flight. Its default is megabytes for each connection.
  private static let unsentBytes: SocketOptionValue = 128 * 1024

  func handlerAdded(context: ChannelHandlerContext) {
    let level = NIOBSDSocket.OptionLevel(rawValue: CInt(IPPROTO_TCP))
    let option = ChannelOptions.Types.SocketOption(level: level, name: .init(rawValue: TCP_USER_TIMEOUT))
    _ = context.channel.setOption(option, value: Self.userTimeout)
    let unsent = ChannelOptions.Types.SocketOption(level: level, name: .init(rawValue: TCP_NOTSENT_LOWAT))
    _ = context.channel.setOption(unsent, value: Self.unsentBytes)
    _ = context.channel.setOption(.socketOption(.so_keepalive), value: 1)
  }
}
