import NIOCore
import NIOSSL
import PeerProtocol
import PeerTrust

/// The server's TLS configuration: one identity with two contexts, for clients that are asked for a certificate and
/// for all others. Each context has its own ticket keys, so that sessions of one cannot be resumed in the other.
struct ServerTLS: Sendable {
  private let asking: NIOSSLContext
  private let silent: NIOSSLContext

  /// - Parameter shutdown: the time limit for a client to answer the TLS closing message.
  init(_ identity: PeerIdentity, shutdown: Duration) throws {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(identity.certificatePEM.utf8)).map {
        .certificate($0)
      },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.privateKeyPEM.utf8), format: .pem)))
    configuration.minimumTLSVersion = .tlsv12
    // For TLS 1.2, which other apps may use: only suites with forward secrecy and without CBC (RFC 9325 section 4.2).
    configuration.cipherSuiteValues = [
      .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
      .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    ]
    configuration.shutdownTimeout = TimeAmount(shutdown)
    configuration.applicationProtocols = [NegotiatedProtocol.http]
    silent = try NIOSSLContext(configuration: configuration)
    configuration.applicationProtocols = [NegotiatedProtocol.hpeer, NegotiatedProtocol.http]
    configuration.certificateVerification = .optionalVerification
    configuration.trustRoots = .certificates([])
    asking = try NIOSSLContext(configuration: configuration)
  }

  /// Returns the TLS handler for a client with this ClientHello, or for `nil` if its first bytes were not one.
  func handler(for hello: ClientHello?) -> NIOSSLServerHandler {
    guard let hello, hello.offers(NegotiatedProtocol.hpeer) else { return NIOSSLServerHandler(context: silent) }
    // Any certificate is accepted: the handshake proves that the client holds its key, and a token bound to a
    // certificate requires that certificate.
    return NIOSSLServerHandler(context: asking) { _, promise in promise.succeed(.certificateVerified) }
  }
}
