import HealthStore
import Logging
import PeerServer
import PeerTrust
import ServiceLifecycle

/// Takes what apps send by themselves into a store, on a port of its own.
///
/// A service to be run in a group, beside ``ServeOperation`` or without it.
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

  /// Throws ``PeerServerError`` where it cannot listen, ``InboxCertificateError`` where there is no certificate for it.
  public func run() async throws {
    var configuration = InboxServer.Configuration(
      host: settings.host, port: settings.port, security: try await security())
    if settings.security == .proxied { configuration.host = "127.0.0.1" }
    let server = InboxServer(
      configuration, registry: local.registry, inbox: InboxReceiver(store: local.store, registry: local.registry, zones: zones),
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

/// There is no certificate that an inbox could show.
public struct InboxCertificateError: Error, Hashable, Sendable {
  /// Where it was looked for.
  public let security: InboxSettings.Security
  /// In the words of what failed.
  public let reason: String

  init(_ security: InboxSettings.Security, reason: String) { (self.security, self.reason) = (security, reason) }
}

/// How an inbox is reached.
public struct InboxSettings: Hashable, Sendable {
  /// What phones trust.
  public enum Security: Hashable, Sendable {
    /// A certificate of an authority made for this machine, whose profile the phone installs.
    case ownAuthority
    /// Files in PEM that something else keeps fresh: a certificate with those after it, and its key.
    case files(certificate: String, key: String)
    /// HTTP on loopback, behind a reverse proxy on this machine.
    case proxied
    /// HTTP for everyone on the network, who can then read secrets and samples.
    case insecure
  }

  /// The address to bind; `nil` for all.
  public var host: String?
  /// 0 for any that is free.
  public var port = InboxServer.defaultPort
  /// What phones trust.
  public var security = Security.ownAuthority

  /// All addresses, the usual port, and a certificate of this machine's own authority.
  public init() {}
}
