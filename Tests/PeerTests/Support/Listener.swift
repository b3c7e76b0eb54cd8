import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import PeerTrust

typealias ByteChannel = NIOAsyncChannel<ByteBuffer, ByteBuffer>
typealias ByteInbound = NIOAsyncChannelInboundStream<ByteBuffer>

/// A writer that, unlike the channel's own, waits until the bytes have left, so that a test that never stops writing
/// doesn't fill memory.
struct ByteOutbound: Sendable {
  let channel: any Channel

  func write(_ buffer: ByteBuffer) async throws {
    try await channel.writeAndFlush(buffer).get()
  }
}

/// Runs `body` with a listener on loopback that stands in for other servers, broken connections or an attacker.
///
/// - Parameters:
///   - identity: The identity for TLS, or `nil` for plain TCP.
///   - serve: A closure called for each connection.
@discardableResult
func withListener<Result: Sendable>(
  tls identity: PeerIdentity? = nil,
  serve: @escaping @Sendable (ByteInbound, ByteOutbound) async throws -> Void,
  _ body: (Int) async throws -> Result
) async throws -> Result {
  let context = try identity.map { try NIOSSLContext(configuration: try serverTLS($0)) }
  let connections = NIOLockedValueBox<[Task<Void, Never>]>([])
  let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
    .childChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        if let context { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context)) }
        let connection = try ByteChannel(wrappingChannelSynchronously: channel)
        // An accepted channel must be run, also when the listener is about to end: so not through a sequence.
        let task = Task {
          do {
            try await connection.executeThenClose { inbound, _ in
              try await serve(inbound, ByteOutbound(channel: channel))
            }
          } catch {
            // Ending connections is what many tests are about.
          }
        }
        connections.withLockedValue { $0.append(task) }
      }
    }
    .bind(host: "127.0.0.1", port: 0).get()
  let result: Swift.Result<Result, any Error>
  do {
    result = .success(try await body(listener.localAddress?.port ?? 0))
  } catch {
    result = .failure(error)
  }
  try? await listener.close()
  for task in connections.withLockedValue(\.self) {
    task.cancel()
    await task.value
  }
  return try result.get()
}

private func serverTLS(_ identity: PeerIdentity) throws -> TLSConfiguration {
  var configuration = TLSConfiguration.makeServerConfiguration(
    certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(identity.certificatePEM.utf8)).map { .certificate($0) },
    privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.privateKeyPEM.utf8), format: .pem)))
  configuration.shutdownTimeout = .milliseconds(100)
  return configuration
}

/// Creates an identity that no peer has pinned.
func makeIdentity() async throws -> PeerIdentity {
  try await withTemporaryDirectory { directory in
    let identity: PeerIdentity = try await IdentityStore.loadOrCreate(in: directory)
    return identity
  }
}

/// Runs `body` with a server that passes each request to `answer`, which writes the response.
///
/// - Parameter body: A closure that receives the port and a function that returns the heads of the requests so far.
@discardableResult
func withCannedServer<Result: Sendable>(
  tls identity: PeerIdentity,
  answer: @escaping @Sendable (_ request: String, _ outbound: ByteOutbound) async throws -> Void,
  _ body: (Int, _ requests: @escaping @Sendable () -> [String]) async throws -> Result
) async throws -> Result {
  let requests = NIOLockedValueBox<[String]>([])
  return try await withListener(tls: identity) { inbound, outbound in
    var text = ""
    for try await bytes in inbound {
      text += String(buffer: bytes)
      while let end = text.range(of: "\r\n\r\n") {
        let request = String(text[..<end.lowerBound])
        text = String(text[end.upperBound...])
        requests.withLockedValue { $0.append(request) }
        try await answer(request, outbound)
      }
    }
  } _: { port in
    try await body(port) { requests.withLockedValue(\.self) }
  }
}

/// Returns an HTTP response in a single buffer.
func httpResponse(
  _ body: String, status: String = "200 OK", headers: [String] = [], type: String = "application/json"
) -> ByteBuffer {
  let head = ["HTTP/1.1 \(status)", "Content-Type: \(type)", "Content-Length: \(body.utf8.count)"] + headers
  return ByteBuffer(string: head.joined(separator: "\r\n") + "\r\n\r\n" + body)
}
