import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import OperatingSystem
import PeerTrust
import ServiceLifecycle

/// A server that receives data that apps send by themselves, on a port of its own. It answers no reads.
///
/// The server runs until its task is cancelled or its service group shuts down gracefully. A body in progress is
/// stored first.
public struct InboxServer: Service {
  /// The transport security of the inbox.
  public enum Security: Sendable {
    /// TLS with a certificate that may be replaced while the server runs.
    case certificates(InboxCertificates)
    /// Plain HTTP, for use behind a reverse proxy or at the owner's risk.
    case plain
  }

  /// The address, security and limits of an inbox.
  public struct Configuration: Sendable {
    /// The address to bind; `nil` for all addresses of IPv6 and IPv4.
    public var host: String?
    /// The TCP port; 0 for any free one.
    public var port: Int
    /// The transport security.
    public var security: Security
    /// The limits; tests set their own.
    public var limits = InboxLimits()
    /// The clock for all timing except that of connections, which use the event loop's.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// Creates a configuration with the limits of `hpeer serve --inbox`.
    public init(host: String? = nil, port: Int = InboxServer.defaultPort, security: Security) {
      (self.host, self.port, self.security) = (host, port, security)
    }
  }

  /// The default port.
  public static let defaultPort = 8738
  private static let backlog = 256

  private let configuration: Configuration
  private let application: any ApplicationProtocol

  /// - Parameter onListening: called with the port once connections are accepted.
  public init(
    _ configuration: Configuration, registry: PeerRegistry, inbox: any InboxHandler, audit: AuditTrail, logger: Logger,
    onListening: @escaping @Sendable (Int) async -> Void
  ) {
    self.configuration = configuration
    let limits = configuration.limits
    // The rest is for the server of peers in the same process.
    let serving = limits.serving.fitting(
      descriptors: DescriptorLimit.raise(to: ServingLimits.wantedDescriptors) * 2 / 5)
    let table = ConnectionTable(serving)
    let security: any ConnectionSecurity =
      switch configuration.security {
      case .certificates(let certificates): certificates
      case .plain: PlainConnection()
      }
    let router = Router(context: PeerRequestContext.self)
    router.add(middleware: ErrorMiddleware(methods: [:]))
    InboxRoutes(
      registry: registry, audit: audit, inbox: inbox, limits: limits, clock: configuration.clock,
      strangers: RequestBudget(serving), budget: SenderBudget(limits, clock: configuration.clock),
      bodies: FairSemaphore(
        permits: limits.sharedBodies, permitsPerClient: limits.bodiesPerSender, ownPermits: 1,
        queuePerClient: limits.waitingPerSender),
      taking: FairSemaphore(permits: 1, permitsPerClient: 1, queuePerClient: limits.waitingPerSender)
    ).add(to: router)
    application = Application(
      router: router,
      server: HTTPServerBuilder { responder in
        GuardedChannel(responder: responder, security: security, table: table, limits: serving)
      },
      configuration: .init(
        address: .hostname(configuration.host ?? PeerServer.anyAddress, port: configuration.port),
        serverName: "hpeer", backlog: Self.backlog),
      onServerRunning: { channel in
        try? await channel.pipeline.addHandler(AcceptErrors(), position: .first)
        await onListening(channel.localAddress?.port ?? configuration.port)
      },
      logger: logger)
  }

  /// Serves requests until shutdown. Throws ``PeerServerError`` if it cannot listen.
  public func run() async throws {
    do {
      // This task ends with the server.
      async let _ = keepCertificatesFresh()
      try await application.run()
    } catch let error as IOError where error.errnoCode == EADDRINUSE {
      throw PeerServerError.portTaken(configuration.port, of: .inbox)
    } catch let error as IOError where error.errnoCode == EACCES {
      throw PeerServerError.portForbidden(configuration.port, of: .inbox)
    } catch let error
      where error is IOError || error is SocketAddressError || error is SocketAddressError.UnknownHost
    {
      throw PeerServerError.cannotListen(
        address: configuration.host ?? PeerServer.anyAddress, reason: networkReason(error))
    }
  }
  private func keepCertificatesFresh() async {
    if case .certificates(let certificates) = configuration.security {
      await certificates.keepFresh(clock: configuration.clock)
    }
  }
}
