import NIOCore
import NIOSSL
import PeerProtocol

/// A temporary handler that waits for the ClientHello, installs the TLS handler that suits it, and removes itself.
///
/// Bytes that are not a ClientHello are passed to TLS, too, which refuses them properly.
final class ClientHelloPeek: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let limits: ServingLimits
  private let makeTLS: (ClientHello?) -> NIOSSLServerHandler
  private var reader: ClientHelloReader
  private var received: ByteBuffer?
  private var deadline: Scheduled<Void>?

  init(limits: ServingLimits, makeTLS: @escaping (ClientHello?) -> NIOSSLServerHandler) {
    self.limits = limits
    self.makeTLS = makeTLS
    reader = ClientHelloReader(limit: limits.clientHelloBytes)
  }

  func channelActive(context: ChannelHandlerContext) {
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.clientHello)) {
      context.close(promise: nil)
    }
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var piece = unwrapInboundIn(data)
    let reading = piece.withUnsafeReadableBytes { reader.read($0) }
    if received?.writeBuffer(&piece) == nil { received = piece }
    switch reading {
    case .incomplete: break
    case .found(let hello): handOver(hello, context)
    case .other: handOver(nil, context)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    context.fireUserInboundEventTriggered(event)
    // No TLS handler is installed yet that could answer.
    if let event = event as? ChannelEvent, event == .inputClosed { context.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    deadline?.cancel()
    deadline = nil
    received = nil
  }

  private func handOver(_ hello: ClientHello?, _ context: ChannelHandlerContext) {
    guard let bytes = received else { return }
    received = nil
    let pipeline = context.pipeline.syncOperations
    do {
      try pipeline.addHandler(makeTLS(hello), position: .after(self))
    } catch {
      context.fireErrorCaught(error)
      return context.close(promise: nil)
    }
    context.fireChannelRead(wrapInboundOut(bytes))
    pipeline.removeHandler(context: context, promise: nil)
  }
}
