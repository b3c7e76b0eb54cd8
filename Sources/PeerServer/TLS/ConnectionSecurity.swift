import NIOCore
import NIOTLS

/// What stands between a connection's bytes and HTTP.
protocol ConnectionSecurity: Sendable {
  /// Puts its handlers at the beginning of a new connection's pipeline. Called on the connection's event loop.
  func install(in pipeline: ChannelPipeline.SynchronousOperations, _ limits: ServingLimits) throws
}

extension ServerTLS: ConnectionSecurity {
  func install(in pipeline: ChannelPipeline.SynchronousOperations, _ limits: ServingLimits) throws {
    try pipeline.addHandler(ClientHelloPeek(limits: limits, makeTLS: handler), position: .first)
  }
}

/// HTTP without TLS: for a reverse proxy on this machine, or where somebody has said that they know the risk.
struct PlainConnection: ConnectionSecurity {
  func install(in pipeline: ChannelPipeline.SynchronousOperations, _ limits: ServingLimits) throws {
    try pipeline.addHandler(Start(), position: .first)
  }

  /// Says at once what TLS says after its handshake, for which the limits of a connection wait.
  private final class Start: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
      context.fireChannelActive()
      context.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
    }
  }
}
