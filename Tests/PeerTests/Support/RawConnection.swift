import NIOCore
import NIOPosix
import NIOSSL

/// A connection that says nothing by itself and is closed by whoever opened it.
///
/// - Parameter unread: sent after the TLS handshake; from then on the connection reads nothing at all.
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
