import NIOCore
import NIOPosix
import NIOSSL
import PeerTrust
import TestSupport

/// Runs `body` with a relay to `target`.
///
/// - Parameter limit: The number of bytes to a client after which its connection ends.
@discardableResult
func withRelay<Result>(
  to target: Int, cutAfter limit: Int = .max, _ body: (Relay) async throws -> Result
) async throws -> Result {
  let relay = try Relay(to: target, cutAfter: limit)
  defer { relay.close() }
  return try await body(relay)
}

/// Runs `body` with a relay that terminates TLS with its own certificate and opens a new TLS connection to the
/// server, like a man in the middle.
///
/// - Parameter body: A closure that receives the port for clients.
@discardableResult
func withManInTheMiddle<Result: Sendable>(
  _ identity: PeerIdentity, to target: Int, _ body: (Int) async throws -> Result
) async throws -> Result {
  try await withListener(tls: identity) { inbound, outbound in
    try await relayOnce(inbound, outbound, to: target, isTLS: true)
  } _: { port in
    try await body(port)
  }
}

/// Forwards the bytes of a connection in both directions.
func relayOnce(
  _ inbound: ByteInbound, _ outbound: ByteOutbound, to target: Int, isTLS: Bool = false
) async throws {
  let upstream = try await connect(to: target, isTLS: isTLS)
  let toServer = ByteOutbound(channel: upstream.channel)
  try await upstream.executeThenClose { fromServer, _ in
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for try await bytes in inbound { try await toServer.write(bytes) } }
      group.addTask { for try await bytes in fromServer { try await outbound.write(bytes) } }
      try await group.next()
      group.cancelAll()
    }
  }
}

private func connect(
  to port: Int, isTLS: Bool, offering protocols: [String] = [], showing identity: PeerIdentity? = nil
) async throws -> ByteChannel {
  let context = try NIOSSLContext(configuration: try clientTLS(offering: protocols, showing: identity))
  return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)) { channel in
      channel.eventLoop.makeCompletedFuture {
        if isTLS {
          try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: context, serverHostname: nil))
        }
        return try ByteChannel(wrappingChannelSynchronously: channel)
      }
    }
}

/// Returns a client configuration that accepts any certificate.
func clientTLS(offering protocols: [String], showing identity: PeerIdentity?) throws -> TLSConfiguration {
  var configuration = TLSConfiguration.makeClientConfiguration()
  configuration.certificateVerification = .none
  configuration.shutdownTimeout = .milliseconds(100)
  configuration.applicationProtocols = protocols
  if let identity {
    configuration.certificateChain = [.certificate(try NIOSSLCertificate(bytes: identity.certificateDER, format: .der))]
    configuration.privateKey = .privateKey(
      try NIOSSLPrivateKey(bytes: Array(identity.privateKeyPEM.utf8), format: .pem))
  }
  return configuration
}

/// Opens a TLS connection on which a test sends arbitrary bytes.
@discardableResult
func withRawTLS<Result: Sendable>(
  to port: Int, offering protocols: [String] = [], showing identity: PeerIdentity? = nil,
  _ body: (ByteInbound, ByteOutbound) async throws -> Result
) async throws -> Result {
  let connection = try await connect(to: port, isTLS: true, offering: protocols, showing: identity)
  return try await connection.executeThenClose { inbound, _ in
    try await body(inbound, ByteOutbound(channel: connection.channel))
  }
}

/// Sends bytes over TLS and returns everything received until the server closes the connection.
func rawExchange(
  _ port: Int, _ text: String, offering protocols: [String] = [], showing identity: PeerIdentity? = nil
) async throws -> String {
  try await withRawTLS(to: port, offering: protocols, showing: identity) { inbound, outbound in
    try await outbound.write(ByteBuffer(string: text))
    var answer = ""
    do {
      for try await bytes in inbound { answer += String(buffer: bytes) }
    } catch NIOSSLError.uncleanShutdown {
      // A reset counts as hanging up.
    }
    return answer
  }
}

/// Opens a TCP connection without TLS.
@discardableResult
func withRawTCP<Result: Sendable>(
  to port: Int, _ body: (ByteInbound, ByteOutbound) async throws -> Result
) async throws -> Result {
  let connection = try await connect(to: port, isTLS: false)
  return try await connection.executeThenClose { inbound, _ in
    try await body(inbound, ByteOutbound(channel: connection.channel))
  }
}
