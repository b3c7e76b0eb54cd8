import Glibc
import NIOCore

/// A handler for listening channels that outlives errors of `accept(2)` which pass: too many open files, no memory, or a
/// connection that was gone before it was accepted.
///
/// NIO reports them as errors of the channel and keeps it open. Without this, the sequence of accepted connections ends, and
/// the server with it: a stranger who can use up descriptors could stop it.
final class AcceptErrors: ChannelInboundHandler, Sendable {
  typealias InboundIn = NIOAny

  /// The pause before the next connection is accepted: what is lacking has to come back first.
  private static let pause = TimeAmount.milliseconds(100)
  /// The errors after which NIO keeps the channel open.
  private static let passing: Set<CInt> = [ECONNABORTED, EMFILE, ENFILE, ENOBUFS, ENOMEM]

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let code = (error as? IOError)?.errnoCode, Self.passing.contains(code) else {
      return context.fireErrorCaught(error)
    }
    let channel = context.channel
    context.eventLoop.scheduleTask(in: Self.pause) { channel.read() }
  }
}
