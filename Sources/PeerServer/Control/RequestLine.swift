import Glibc
import NIOCore

/// A handler that passes on the first line that a local process sends. It closes the connection if no line arrives in
/// time or too many bytes follow.
final class RequestLine: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// The maximum bytes of the line. A scope may name every type.
  private static let maximumBytes = 32 * 1024
  /// The maximum bytes after the line. They are tolerated so that a caller can still read why its line was refused.
  private static let maximumIgnored = 64 * 1024

  private let timeout: TimeAmount
  private var deadline: Scheduled<Void>?
  private var line = ByteBuffer()
  private var isPassedOn = false
  private var ignored = 0

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
    var bytes = unwrapInboundIn(data)
    guard !isPassedOn else {
      ignored += bytes.readableBytes
      if ignored > Self.maximumIgnored { context.close(promise: nil) }
      return
    }
    line.writeBuffer(&bytes)
    let end = line.readableBytesView.firstIndex(of: UInt8(ascii: "\n"))
    let length = end.map { $0 - line.readerIndex } ?? line.readableBytes
    // A line that is too long is passed on truncated, which makes it an invalid request.
    guard end != nil || length > Self.maximumBytes else { return }
    deadline?.cancel()
    isPassedOn = true
    let request = line.readSlice(length: min(length, Self.maximumBytes)) ?? ByteBuffer()
    line = ByteBuffer()
    context.fireChannelRead(wrapInboundOut(request))
  }
}

/// The credentials of the process at the other end of a Unix socket: `struct ucred` of unix(7), which Swift's Glibc
/// module does not expose.
struct PeerCredentials: Sendable {
  var process: pid_t = 0
  var user: uid_t = 0
  var group: gid_t = 0

  /// Returns the credentials that the kernel recorded when the other side connected, or `nil` if it reports none.
  static func of(_ channel: any Channel) async -> PeerCredentials? {
    guard let socket = channel as? any SocketOptionProvider else { return nil }
    return try? await socket.unsafeGetSocketOption(
      level: .init(rawValue: SOL_SOCKET), name: .init(rawValue: SO_PEERCRED)
    ).get()
  }
}
