import NIOCore
import NIOPosix
import NIOSSL

/// Opens a connection that sends nothing by itself. The caller must close it.
///
/// - Parameter unread: Text to send after the TLS handshake. From then on the connection reads nothing.
func connectRaw(to port: Int, tls: Bool, unread text: String? = nil) async throws -> any Channel {
  var configuration = TLSConfiguration.makeClientConfiguration()
  configuration.certificateVerification = .none
  configuration.shutdownTimeout = .milliseconds(100)
  let context = try NIOSSLContext(configuration: configuration)
  let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    .channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        guard tls else { return }
        try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: context, serverHostname: nil))
      }
    }
    .connect(host: "127.0.0.1", port: port).get()
  if let text {
    // Succeeds after the handshake.
    try await channel.writeAndFlush(ByteBuffer()).get()
    try await channel.setOption(.autoRead, value: false).get()
    try await channel.writeAndFlush(ByteBuffer(string: text)).get()
  }
  return channel
}
