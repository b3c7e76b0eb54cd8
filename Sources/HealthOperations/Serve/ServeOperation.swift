import Foundation
import HealthModel
import HealthStore
import Logging
import PeerClient
import PeerDiscovery
import PeerProtocol
import PeerServer
import PeerTrust
import ServiceLifecycle

/// How a store is served.
public struct ServeSettings: Hashable, Sendable {
  /// Of this program, as it says in its status.
  public var version: String
  /// The address to bind; `nil` for all.
  public var host: String?
  /// 0 for any that is free.
  public var port = Route.defaultPort
  /// Seconds without a request after which a machine must pair again.
  public var tokenLifetime = PairedClient.defaultTokenLifetime
  /// Whether others can find this machine by its name.
  public var isAdvertised = true
  /// The port of loopback on which Prometheus is answered, 0 for any that is free; `nil` for none. The control socket always
  /// answers it.
  public var metricsPort: Int?
  /// Days after which audit events are forgotten; 0 for never.
  public var auditDays = AuditRetention.defaultDays

  /// Serves on the usual port of all addresses, and can be found by others; each can be changed before it is used.
  public init(version: String) {
    self.version = version
  }
}

/// Serves a store to paired machines: the listener, the pairing window with its control socket, the announcement, and
/// the audit log's keeping.
///
/// A service to be run in a group. Its graceful shutdown lets requests in flight be answered, for five seconds at most,
/// and closes the pairing window.
///
/// ```swift
/// import Logging
/// import ServiceLifecycle
///
/// func serve(_ home: Home, as local: LocalPeer, logger: Logger) async throws {
///   let lock = try ServeLock(home)
///   defer { lock.release() }
///   let settings = ServeSettings(version: "1.0")
///   let operation = try await ServeOperation(home, local, settings, holding: lock, logger: logger) { event in
///     if case .listening(let port, _, _) = event { print("port", port) }
///   }
///   try await ServiceGroup(services: [operation], gracefulShutdownSignals: [.sigterm], logger: logger).run()
/// }
/// ```
public struct ServeOperation: Service {
  /// Is told what happens, one thing after the other.
  public typealias Listener = @Sendable (ServeEvent) async -> Void

  private static let drainLimit = Duration.seconds(5)

  private let home: Home
  private let local: LocalPeer
  private let settings: ServeSettings
  private let logger: Logger
  private let tell: Listener
  private let events = PairingEvents()
  private let audit: AuditTrail
  private let desk: PairingDesk

  /// Throws ``PairingDeskError`` where what is known of a window before cannot be read.
  ///
  /// - Parameters:
  ///   - local: under whose name it is served.
  ///   - lock: says that nobody else serves this home; to be released after ``run()``.
  public init(
    _ home: Home, _ local: LocalPeer, _ settings: ServeSettings, holding lock: ServeLock, logger: Logger,
    tell: @escaping Listener
  ) async throws {
    self.home = home
    self.local = local
    self.settings = settings
    self.logger = logger
    self.tell = tell
    let audit = AuditTrail(store: local.store, logger: logger)
    self.audit = audit
    var limits = PairingDesk.Limits()
    limits.tokenLifetime = settings.tokenLifetime
    desk = try await PairingDesk(
      identity: local.identity, directory: home.url, limits: limits, events: { [events] in events.send($0) }
    ) { [registry = local.registry] client in
      guard let formerID = try await registry.addClient(client) else { return }
      await audit.rotated(client.name, from: formerID, to: client.id)
    }
  }

  /// Opens a pairing window, in the place of one that is open.
  ///
  /// - Parameter scope: what a machine that pairs may read; `nil` for what it may read already, or everything.
  public func openWindow(scope: SampleFilter?) async throws {
    _ = try await desk.open(scope: scope)
  }

  /// Throws ``PeerServerError`` where it cannot listen.
  public func run() async throws {
    let (recorderPorts, toRecorder) = AsyncStream.makeStream(of: Int.self)
    let (advertiserPorts, toAdvertiser) = AsyncStream.makeStream(of: Int.self)
    var configuration = PeerServer.Configuration(
      name: local.name, version: settings.version, host: settings.host, port: settings.port)
    configuration.wayBack = PeerTester.wayBack(to:)
    let server = try PeerServer(
      configuration, store: local.store, registry: local.registry, identity: local.identity, desk: desk, audit: audit,
      logger: logger
    ) { [audit, name = local.name] port in
      await audit.record(.serverStarted, ["port": String(port), "name": name])
      toRecorder.yield(port)
      toAdvertiser.yield(port)
    }
    let address = ServedAddress(
      host: settings.host, fingerprint: local.identity.fingerprint, name: settings.isAdvertised ? local.name : nil)
    let recorder = PairingRecorder(
      ports: recorderPorts, desk: desk, events: events, audit: audit, store: local.store, address: address, tell: tell)
    let metrics = ServerMetrics(home, local, version: settings.version)
    let control = ControlServer(
      path: home.socketPath, name: { address.name }, desk: desk, events: events, logger: logger, metrics: metrics.text,
      payload: address.payload)
    var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
      .init(service: control), .init(service: recorder), .init(service: StorePresence(local.store)),
    ]
    if settings.isAdvertised {
      let advertising = AdvertisingService(
        ports: advertiserPorts, name: local.name, id: local.identity.id, events: events, address: address, tell: tell)
      services.append(.init(service: advertising))
    }
    if settings.auditDays > 0 {
      let retention = AuditRetention(store: local.store, days: settings.auditDays, logger: logger)
      services.append(.init(service: retention, successTerminationBehavior: .ignore))
    }
    services.append(
      .init(
        service: StoreMaintenance(store: local.store, logger: logger), successTerminationBehavior: .ignore))
    if let port = settings.metricsPort {
      let service = MetricsServer(
        port: port, logger: logger, onListening: { [tell] port in Task { await tell(.metrics(port: port)) } },
        metrics: metrics.text)
      services.append(.init(service: service))
    }
    services.append(.init(service: server, successTerminationBehavior: .gracefullyShutdownGroup))
    var group = ServiceGroupConfiguration(services: services, logger: logger)
    group.maximumGracefulShutdownDuration = Self.drainLimit
    do {
      try await ServiceGroup(configuration: group).run()
    } catch {
      await audit.record(.serverStopped, ["reason": "failed"])
      throw error
    }
    await desk.close()
    await audit.record(.serverStopped, ["reason": "asked"])
  }
}

/// What happens while a store is served.
public enum ServeEvent: Sendable {
  /// Connections are accepted.
  ///
  /// - Parameters:
  ///   - addresses: where others reach this machine, whatever their interfaces are called.
  ///   - counts: what there is to share.
  case listening(port: Int, addresses: [String], counts: [TypeCount])
  /// `/metrics` is answered on this port of loopback.
  case metrics(port: Int)
  /// What the pairing desk did. The audit log has it already.
  case pairing(PairingEvent)
  /// A window is open, and this is its code.
  case code(WindowCode)
  /// A window is open, and its code cannot be shown, because the address here is none that a payload may have. Bind the
  /// server to another one, and open a window again.
  case codeUnavailable(any Error)
  /// Others see this machine, under which name, or do not for now: it is tried until they do.
  case advertising(AdvertisingEvent)
  /// Others cannot find this machine; those who know its address are served.
  case notAdvertised(any Error)
}

/// A pairing code, to be shown at this machine and nowhere else.
public struct WindowCode: Sendable {
  /// Good for one attempt: after a wrong one, ``ServeEvent/code(_:)`` brings the next.
  public let code: PairingCode
  /// What another machine needs to pair.
  public let payload: PairingPayload
  /// When the window closes at the latest, by this machine's clock.
  public let expiresAt: Date
  /// What the window was opened for; `nil` leaves a machine that was paired before what it could read.
  public let scope: SampleFilter?
  /// What this machine is announced as at this moment; `nil` if others cannot find it by name.
  public let name: String?
  /// Whose record it is; `nil` where a damaged store cannot say so.
  public let person: Person?
}
