import NIOCore
import NIOTLS

/// The transport security of a connection, as handlers between the socket and HTTP.
protocol ConnectionSecurity: Sendable {
  /// Installs the handlers at the beginning of a new connection's pipeline. Called on the connection's event loop.
  func install(in pipeline: ChannelPipeline.SynchronousOperations, _ limits: ServingLimits) throws
}

extension ServerTLS: ConnectionSecurity {
  func install(in pipeline: ChannelPipeline.SynchronousOperations, _ limits: ServingLimits) throws {
    try pipeline.addHandler(ClientHelloPeek(limits: limits, makeTLS: handler), position: .first)
  }
}

/// Plain HTTP without TLS, for a reverse proxy on this machine or an owner who accepts the risk.
struct PlainConnection: ConnectionSecurity {
  func install(in pipeline: ChannelPipeline.SynchronousOperations, _ limits: ServingLimits) throws {
    try pipeline.addHandler(Start(), position: .first)
  }

  /// A handler that fires the event of a completed TLS handshake at once, because the connection limits wait for it.
  private final class Start: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
      context.fireChannelActive()
      context.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
    }
  }
}
