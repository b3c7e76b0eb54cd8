import Glibc
import NIOCore

/// Lets the kernel end connections whose other side is gone or has stopped reading.
///
/// A response in progress has no idle time-out, so without this a peer that falls asleep in the middle of a pull would
/// hold its connection, and the page that waits for it, for ever.
final class StalledPeer: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  /// Milliseconds that sent data may stay unacknowledged, or unsent before a closed window (RFC 5482; tcp(7)). Longer
  /// than a client's store may keep it waiting.
  private static let userTimeout: SocketOptionValue = 120_000

  /// Bytes that the kernel takes beyond what is on its way; by itself it would take megabytes for each connection.
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
