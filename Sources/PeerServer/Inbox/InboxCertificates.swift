import Foundation
import Logging
import NIOCore
import NIOSSL
import Synchronization

/// The TLS certificate of an inbox, which may be replaced while the inbox runs. Open connections keep the certificate
/// with which they began.
public final class InboxCertificates: Sendable {
  /// A certificate with its chain and private key.
  public struct Material: Hashable, Sendable {
    /// The certificate chain in PEM, the inbox's own certificate first.
    public let chain: [UInt8]
    /// The private key in PEM.
    public let key: [UInt8]
    /// A value that changes with the certificate or key.
    public let version: String

    /// - Parameter version: a value that is equal for equal certificates and keys.
    public init(chain: [UInt8], key: [UInt8], version: String) {
      (self.chain, self.key, self.version) = (chain, key, version)
    }

    /// Returns the expiry dates of the certificates, in the order of ``chain``.
    ///
    /// Throws if the certificate or key is invalid, as ``InboxCertificates`` does.
    public func ends() throws -> [Date] {
      _ = try InboxCertificates.context(self)
      return try NIOSSLCertificate.fromPEMBytes(chain).map { Date(timeIntervalSince1970: Double($0.notValidAfter)) }
    }
  }

  /// A function that returns the current certificate, or `nil` if it still has the given version.
  public typealias Source = @Sendable (_ version: String?) async throws -> Material?

  private let source: Source
  private let interval: Duration
  private let logger: Logger
  private let current: Mutex<(context: NIOSSLContext, version: String)>

  /// Loads the first certificate. Throws the error of `source`, or an error if the certificate or key is invalid.
  ///
  /// - Parameter interval: the time between checks for a new certificate.
  public init(interval: Duration = .seconds(20), logger: Logger, source: @escaping Source) async throws {
    guard let material = try await source(nil) else { throw InboxCertificateMissing() }
    (self.source, self.interval, self.logger) = (source, interval, logger)
    current = Mutex((try Self.context(material), material.version))
  }

  /// Checks for a new certificate periodically, until the task is cancelled. An unusable one is logged, and the
  /// current one stays in use.
  func keepFresh(clock: any Clock<Duration>) async {
    while true {
      do { try await clock.sleep(for: interval) } catch { return }
      do {
        guard let material = try await source(current.withLock { $0.version }) else { continue }
        let context = try Self.context(material)
        current.withLock { $0 = (context, material.version) }
        logger.info("the inbox has a new certificate")
      } catch {
        if Task.isCancelled { return }
        logger.error("the inbox goes on with the certificate that it has: \(error)")
      }
    }
  }

  private static func context(_ material: Material) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(material.chain).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: material.key, format: .pem)))
    configuration.minimumTLSVersion = .tlsv12
    // For TLS 1.2: nothing without forward secrecy or with CBC (RFC 9325 section 4.2).
    configuration.cipherSuiteValues = [
      .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
      .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
      .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    ]
    configuration.applicationProtocols = ["http/1.1"]
    configuration.shutdownTimeout = .seconds(1)
    return try NIOSSLContext(configuration: configuration)
  }
}

/// An error for a source that returned no certificate at first.
struct InboxCertificateMissing: Error {}

extension InboxCertificates: ConnectionSecurity {
  func install(in pipeline: ChannelPipeline.SynchronousOperations, _ limits: ServingLimits) throws {
    let context = current.withLock { $0.context }
    try pipeline.addHandler(
      ClientHelloPeek(limits: limits) { _ in NIOSSLServerHandler(context: context) }, position: .first)
  }
}
