import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import OperatingSystem
import PeerTrust
import ServiceLifecycle

/// Takes what apps send by themselves, on a port of its own. Nothing can be read through it.
///
/// Runs until its task is cancelled or its service group shuts down gracefully; a body that is being taken is taken first.
public struct InboxServer: Service {
  /// How senders reach it.
  public enum Security: Sendable {
    /// TLS with a certificate that may change while it runs.
    case certificates(InboxCertificates)
    /// None: for a reverse proxy, or at somebody's own risk.
    case plain
  }

  /// Where it listens, and what it takes.
  public struct Configuration: Sendable {
    /// The address to bind; `nil` for all of IPv6 and IPv4.
    public var host: String?
    /// 0 for any that is free.
    public var port: Int
    /// What stands between senders and HTTP.
    public var security: Security
    /// Tests have their own.
    public var limits = InboxLimits()
    /// By which what depends on time is measured, but for the times of a connection.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// With the limits of `hpeer serve --inbox`.
    public init(host: String? = nil, port: Int = InboxServer.defaultPort, security: Security) {
      (self.host, self.port, self.security) = (host, port, security)
    }
  }

  /// The port unless told otherwise.
  public static let defaultPort = 8738
  private static let backlog = 256

  private let configuration: Configuration
  private let application: any ApplicationProtocol

  /// - Parameter onListening: told the port once connections are accepted.
  public init(
    _ configuration: Configuration, registry: PeerRegistry, inbox: any InboxTaking, audit: AuditTrail, logger: Logger,
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

  /// Throws ``PeerServerError`` where it cannot listen.
  public func run() async throws {
    do {
      // Ends with the server.
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
