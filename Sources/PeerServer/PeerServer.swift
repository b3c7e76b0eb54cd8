import Foundation
import Glibc
import HTTPTypes
import HealthStore
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import OperatingSystem
import PeerProtocol
import PeerTrust
import ServiceLifecycle

/// A server that serves one store to paired peers over TLS.
///
/// The server runs until its task is cancelled or its service group shuts down gracefully. Requests in progress are
/// answered first.
public struct PeerServer: Service {
  /// The name, address and limits of a server.
  public struct Configuration: Sendable {
    /// The machine's name in ``StatusData``.
    public var name: String
    /// The program's version, reported in ``StatusData``.
    public var version: String
    /// The address to bind; `nil` for all addresses of IPv6 and IPv4.
    public var host: String?
    /// The TCP port; 0 for any free one.
    public var port: Int
    /// The number of changes between two change tokens of the feed, and so the most that a client must fetch again
    /// after a broken connection.
    public var changesPerToken = 5_000
    /// The limits, reduced if the process may not open enough file descriptors.
    public var limits = ServingLimits()
    /// Tries to connect to a machine from which this one pulls, at its last known address; `nil` to try none. Called
    /// at the request of that machine, rarely and one at a time.
    public var wayBack: (@Sendable (ServerRecord) async -> PairingView.Following)?
    /// The clock for all timing except that of connections, which use the event loop's.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// - Parameter port: 8737 by default; 0 for any free port.
    public init(name: String, version: String, host: String? = nil, port: Int = Route.defaultPort) {
      self.name = name
      self.version = version
      self.host = host
      self.port = port
    }
  }

  /// The number of connections that may wait to be accepted. The kernel drops further ones.
  private static let backlog = 1024

  private let application: any ApplicationProtocol
  private let configuration: Configuration
  private let audit: AuditTrail

  /// - Parameter onListening: called with the port once connections are accepted. Requests are answered after it
  ///   returns.
  public init(
    _ configuration: Configuration, store: HealthStore, registry: PeerRegistry, identity: PeerIdentity,
    desk: PairingCoordinator, audit: AuditTrail, logger: Logger, onListening: @escaping @Sendable (Int) async -> Void
  ) throws {
    self.configuration = configuration
    self.audit = audit
    let limits = configuration.limits.fitting(
      descriptors: DescriptorLimit.raise(to: ServingLimits.wantedDescriptors) * 3 / 5)
    let table = ConnectionTable(limits)
    let tls = try ServerTLS(identity, shutdown: limits.shutdown)
    let (starting, started) = AsyncStream.makeStream(of: Never.self)
    let start = Task { for await _ in starting {} }
    let router = Self.router(
      configuration, limits: limits, start: start, store: store, registry: registry, identity: identity, desk: desk,
      audit: audit, logger: logger)
    application = Application(
      router: router,
      server: HTTPServerBuilder { responder in
        GuardedChannel(responder: responder, security: tls, table: table, limits: limits)
      },
      configuration: .init(
        address: .hostname(configuration.host ?? Self.anyAddress, port: configuration.port), serverName: "hpeer",
        backlog: Self.backlog),
      onServerRunning: { channel in
        try? await channel.pipeline.addHandler(AcceptErrors(), position: .first)
        await onListening(channel.localAddress?.port ?? configuration.port)
        started.finish()
      },
      logger: logger)
  }

  public func run() async throws {
    do {
      async let _ = audit.sealMinutes()
      try await application.run()
    } catch let error as IOError where error.errnoCode == EADDRINUSE {
      throw PeerServerError.portTaken(configuration.port, of: .server)
    } catch let error as IOError where error.errnoCode == EACCES {
      throw PeerServerError.portForbidden(configuration.port, of: .server)
    } catch let error
      where error is IOError || error is SocketAddressError || error is SocketAddressError.UnknownHost
    {
      throw PeerServerError.cannotListen(
        address: configuration.host ?? Self.anyAddress, reason: networkReason(error))
    }
  }

  private static func router(
    _ configuration: Configuration, limits: ServingLimits, start: Task<Void, Never>, store: HealthStore,
    registry: PeerRegistry, identity: PeerIdentity, desk: PairingCoordinator, audit: AuditTrail, logger: Logger
  ) -> Router<PeerRequestContext> {
    let authentication = BearerAuthentication(registry: registry, audit: audit)
    let router = Router(context: PeerRequestContext.self, options: .autoGenerateHeadEndpoints)
    router.add(middleware: AfterStart(start: start))
    router.add(middleware: ErrorMiddleware(methods: methods))
    router.add(middleware: UnauthenticatedRateLimit(budget: RequestBudget(limits), authentication: authentication))
    router.add(middleware: HostCheck())
    let responses = FairSemaphore(
      permits: limits.pairedConnections, permitsPerClient: limits.answersPerClient,
      queuePerClient: limits.connectionsPerClient)
    let processors = ProcessInfo.processInfo.activeProcessorCount
    let readers = FairSemaphore(
      permits: processors, permitsPerClient: max(1, processors - 1), queuePerClient: limits.connectionsPerClient)
    func paired() -> RouterGroup<PeerRequestContext> {
      router.group().add(middleware: authentication).add(middleware: ResponseLimit(semaphore: responses))
    }
    func reading(_ group: RouterGroup<PeerRequestContext>) -> RouterGroup<PeerRequestContext> {
      group.add(middleware: FairScheduling(semaphore: readers)).add(
        middleware: AuthorizationRecheck(authentication: authentication, limits: limits, clock: configuration.clock))
    }
    let routers = AccessRouters(
      anyone: router, paired: paired(), reading: reading(paired().add(middleware: SampleAccess())),
      counting: reading(paired()))
    StatusRoutes(
      store: store, audit: audit, authentication: authentication, responses: responses,
      name: configuration.name, version: configuration.version, id: identity.id
    ).add(to: routers)
    PairingRoutes(desk: desk, limits: limits, clock: configuration.clock).add(to: routers)
    PairedRoutes(registry: registry, audit: audit).add(to: routers)
    PairingViewRoutes(
      store: store, registry: registry, audit: audit,
      way: ReachabilityCheck(configuration.wayBack, clock: configuration.clock)
    ).add(to: routers)
    let persons = PersonMarks(store: store)
    PersonRoutes(
      registry: registry, audit: audit, authentication: authentication, persons: persons, limits: limits,
      clock: configuration.clock
    ).add(to: routers)
    HealthAppTransferRoutes(store: store, audit: audit).add(to: routers)
    let waiting = ChangeWaiting(
      store: store, authentication: authentication, limits: limits, clock: configuration.clock)
    ChangeRoutes(
      store: store, audit: audit, persons: persons, waiting: waiting, name: configuration.name,
      pageSize: configuration.changesPerToken, semaphore: readers,
      machines: TwinDetector(registry: registry, audit: audit, logger: logger)
    ).add(to: routers)
    DigestRoutes(store: store, audit: audit).add(to: routers)
    StatisticsRoutes(store: store, registry: registry, audit: audit).add(to: routers)
    return router
  }

  /// The HTTP methods of each path.
  static let methods: [String: Set<HTTPRequest.Method>] = {
    let groups: [any EndpointGroup.Type] = [
      StatusRoutes.self, PairingRoutes.self, PairedRoutes.self, PairingViewRoutes.self, PersonRoutes.self,
      HealthAppTransferRoutes.self, ChangeRoutes.self, DigestRoutes.self, StatisticsRoutes.self,
    ]
    return groups.reduce(into: [:]) { methods, group in methods.merge(group.methods) { $0.union($1) } }
  }()

  /// The wildcard address: dual-stack `::` if the kernel has IPv6 and an interface has an IPv6 address, else `0.0.0.0`.
  ///
  /// Without an address, as with `net.ipv6.conf.all.disable_ipv6`, the resolver does not know `::` (`AI_ADDRCONFIG`,
  /// getaddrinfo(3)).
  static var anyAddress: String {
    let probe = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
    guard probe >= 0 else { return "0.0.0.0" }
    close(probe)
    let isKnown = (try? SocketAddress.makeAddressResolvingHost("::", port: 0)) != nil
    return isKnown ? "::" : "0.0.0.0"
  }
}
