import Glibc
import NIOCore

/// Passes on the first line that a local process sends, and ends the connection of one that sends none or far more.
final class RequestLine: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// Longest line: a scope may name every type there is.
  private static let maximumBytes = 32 * 1024
  /// Most bytes after it. A caller that is told what was wrong with its line must not be cut off before that.
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
    // A line that is too long is passed on as what it is: no request.
    guard end != nil || length > Self.maximumBytes else { return }
    deadline?.cancel()
    isPassedOn = true
    let request = line.readSlice(length: min(length, Self.maximumBytes)) ?? ByteBuffer()
    line = ByteBuffer()
    context.fireChannelRead(wrapInboundOut(request))
  }
}

/// Who is at the other end of a Unix socket: `struct ucred` of unix(7), which Glibc shows only to programs in C.
struct PeerCredentials: Sendable {
  var process: pid_t = 0
  var user: uid_t = 0
  var group: gid_t = 0

  /// As the kernel noted it when the other side connected; `nil` where it does not say.
  static func of(_ channel: any Channel) async -> PeerCredentials? {
    guard let socket = channel as? any SocketOptionProvider else { return nil }
    return try? await socket.unsafeGetSocketOption(
      level: .init(rawValue: SOL_SOCKET), name: .init(rawValue: SO_PEERCRED)
    ).get()
  }
}
