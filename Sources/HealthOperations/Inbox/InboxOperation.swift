import HealthStore
import Logging
import PeerServer
import PeerTrust
import ServiceLifecycle

/// A service that receives samples which apps send by themselves, on its own port.
///
/// It runs in a group, with or without ``ServeOperation``.
public struct InboxOperation: Service {
  private let home: Home
  private let local: LocalPeer
  private let settings: InboxSettings
  private let logger: Logger
  private let zones: InboxZoneWatch?
  private let onListening: @Sendable (Int) async -> Void

  /// - Parameters:
  ///   - zones: told of the clocks of phones.
  ///   - onListening: told the port once bodies are taken.
  public init(
    _ home: Home, _ local: LocalPeer, _ settings: InboxSettings, logger: Logger, zones: InboxZoneWatch? = nil,
    onListening: @escaping @Sendable (Int) async -> Void
  ) {
    (self.home, self.local, self.settings, self.logger) = (home, local, settings, logger)
    (self.zones, self.onListening) = (zones, onListening)
  }

  /// Receives until the group shuts down. Throws ``PeerServerError`` if the inbox cannot listen, and
  /// ``InboxCertificateError`` or `IdentityError` if it has no certificate.
  public func run() async throws {
    var configuration = InboxServer.Configuration(
      host: settings.host, port: settings.port, security: try await security())
    if settings.security == .proxied { configuration.host = "127.0.0.1" }
    let server = InboxServer(
      configuration, registry: local.registry,
      inbox: InboxReceiver(store: local.store, registry: local.registry, zones: zones),
      audit: AuditTrail(store: local.store, logger: logger), logger: logger, onListening: onListening)
    try await server.run()
  }

  private func security() async throws -> InboxServer.Security {
    let source: InboxCertificates.Source
    switch settings.security {
    case .proxied, .insecure: return .plain
    case .ownAuthority: source = InboxCertificateSource.authority(of: home)
    case .files(let certificate, let key):
      source = InboxCertificateSource.files(certificate: certificate, key: key)
    }
    do {
      return .certificates(try await InboxCertificates(logger: logger, source: source))
    } catch let error as IdentityError {
      throw error
    } catch {
      if error is CancellationError { throw error }
      throw InboxCertificateError(settings.security, reason: "\(error)")
    }
  }
}

/// An error for an inbox that has no usable certificate.
public struct InboxCertificateError: Error, Hashable, Sendable {
  /// The setting that names the certificate.
  public let security: InboxSettings.Security
  /// The underlying error's message.
  public let reason: String

  init(_ security: InboxSettings.Security, reason: String) { (self.security, self.reason) = (security, reason) }
}

/// The address and security of an inbox.
public struct InboxSettings: Hashable, Sendable {
  /// The kind of certificate that phones must trust.
  public enum Security: Hashable, Sendable {
    /// A certificate of an authority made for this machine, whose profile the phone installs.
    case ownAuthority
    /// PEM files that another program renews: a certificate with its chain, and its key.
    case files(certificate: String, key: String)
    /// HTTP on loopback, behind a reverse proxy on this machine.
    case proxied
    /// HTTP for everyone on the network, who can then read secrets and samples.
    case insecure
  }

  /// The address to bind; `nil` for all addresses.
  public var host: String?
  /// The TCP port; 0 for any free port.
  public var port = InboxServer.defaultPort
  /// The kind of certificate that phones must trust.
  public var security = Security.ownAuthority

  /// Creates settings with all addresses, the default port, and a certificate of this machine's own authority.
  public init() {}
}
