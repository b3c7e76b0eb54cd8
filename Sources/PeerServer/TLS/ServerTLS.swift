import NIOCore
import NIOSSL
import PeerProtocol
import PeerTrust

/// The server's side of TLS: one identity, and a context each for clients that are asked for a certificate and for all
/// others. Sessions of one cannot be resumed in the other, because each seals its tickets with keys of its own.
struct ServerTLS: Sendable {
  private let asking: NIOSSLContext
  private let silent: NIOSSLContext

  /// - Parameter shutdown: how long a client that does not answer the TLS goodbye keeps its connection.
  init(_ identity: PeerIdentity, shutdown: Duration) throws {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(identity.certificatePEM.utf8)).map {
        .certificate($0)
      },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.privateKeyPEM.utf8), format: .pem)))
    configuration.minimumTLSVersion = .tlsv12
    // For TLS 1.2, which other apps may speak: nothing without forward secrecy or with CBC (RFC 9325 section 4.2).
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

  /// The handler for a client that said this; `nil` for one that said something else than a ClientHello.
  func handler(for hello: ClientHello?) -> NIOSSLServerHandler {
    guard let hello, hello.offers(NegotiatedProtocol.hpeer) else { return NIOSSLServerHandler(context: silent) }
    // Any certificate will do, of whatever origin: the handshake proves that the client holds its key, and a token that
    // is bound to the certificate asks for that.
    return NIOSSLServerHandler(context: asking) { _, promise in promise.succeed(.certificateVerified) }
  }
}
