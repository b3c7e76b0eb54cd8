import Foundation
import Logging
import NIOCore
import NIOSSL
import Synchronization

/// The certificate of an inbox, which may change while it runs: connections that are open keep the one that they began with.
public final class InboxCertificates: Sendable {
  /// A certificate, those that lead from it to what phones trust, and its key.
  public struct Material: Hashable, Sendable {
    /// In PEM, the inbox's own first.
    public let chain: [UInt8]
    /// In PEM.
    public let key: [UInt8]
    /// Tells whether it is another than before.
    public let version: String

    /// - Parameter version: equal for what is equal.
    public init(chain: [UInt8], key: [UInt8], version: String) {
      (self.chain, self.key, self.version) = (chain, key, version)
    }

    /// When its certificates end, in the order of ``chain``.
    ///
    /// Throws where certificate and key are not what they should be, as ``InboxCertificates`` does.
    public func ends() throws -> [Date] {
      _ = try InboxCertificates.context(self)
      return try NIOSSLCertificate.fromPEMBytes(chain).map { Date(timeIntervalSince1970: Double($0.notValidAfter)) }
    }
  }

  /// Gives what there is now; `nil` where that is still of the version that is given.
  public typealias Source = @Sendable (_ version: String?) async throws -> Material?

  private let source: Source
  private let interval: Duration
  private let logger: Logger
  private let current: Mutex<(context: NIOSSLContext, version: String)>

  /// Throws what `source` does, or where certificate and key are not what they should be.
  ///
  /// - Parameter interval: how often it is asked whether there is another.
  public init(interval: Duration = .seconds(20), logger: Logger, source: @escaping Source) async throws {
    guard let material = try await source(nil) else { throw InboxCertificateMissing() }
    (self.source, self.interval, self.logger) = (source, interval, logger)
    current = Mutex((try Self.context(material), material.version))
  }

  /// Looks for another certificate now and then, until the task is cancelled. One that cannot be used is reported, and the
  /// one before goes on.
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

/// A source of certificates gave none at first.
struct InboxCertificateMissing: Error {}

extension InboxCertificates: ConnectionSecurity {
  func install(in pipeline: ChannelPipeline.SynchronousOperations, _ limits: ServingLimits) throws {
    let context = current.withLock { $0.context }
    try pipeline.addHandler(
      ClientHelloPeek(limits: limits) { _ in NIOSSLServerHandler(context: context) }, position: .first)
  }
}
