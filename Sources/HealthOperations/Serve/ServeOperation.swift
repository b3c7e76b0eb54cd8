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

/// The settings for serving a store.
public struct ServeSettings: Hashable, Sendable {
  /// The version of this program, which the server reports in its status.
  public var version: String
  /// The address to bind; `nil` for all addresses.
  public var host: String?
  /// The TCP port; 0 for any free port.
  public var port = Route.defaultPort
  /// The number of seconds without a request after which a client must pair again.
  public var tokenLifetime = PairedClient.defaultTokenLifetime
  /// Whether others can discover this machine by its name.
  public var isAdvertised = true
  /// The loopback port for Prometheus metrics: 0 for any free port, `nil` for none. The control socket serves them,
  /// too.
  public var metricsPort: Int?
  /// The number of days after which audit events are removed; 0 for never.
  public var auditDays = AuditRetention.defaultDays

  /// Creates settings with the default port on all addresses and with advertising.
  public init(version: String) {
    self.version = version
  }
}

/// A service that serves a store to paired machines: listener, pairing, control socket, advertising and maintenance.
///
/// During a graceful shutdown, requests in flight have five seconds to finish, and the pairing window closes.
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
  /// A function that is called with events, one after the other.
  public typealias Listener = @Sendable (ServeEvent) async -> Void

  private static let drainLimit = Duration.seconds(5)

  private let home: Home
  private let local: LocalPeer
  private let settings: ServeSettings
  private let logger: Logger
  private let tell: Listener
  private let events = PairingEvents()
  private let audit: AuditTrail
  private let desk: PairingCoordinator

  /// Creates the service. Throws ``PairingDeskError`` if the state of an earlier window cannot be read.
  ///
  /// - Parameters:
  ///   - local: its name is the server's name.
  ///   - lock: proves that no other process serves this home. Release it after ``run()``.
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
    var limits = PairingCoordinator.Limits()
    limits.tokenLifetime = settings.tokenLifetime
    desk = try await PairingCoordinator(
      identity: local.identity, directory: home.url, limits: limits, events: { [events] in events.send($0) }
    ) { [registry = local.registry] client in
      guard let formerID = try await registry.addClient(client) else { return }
      await audit.rotated(client.name, from: formerID, to: client.id)
    }
  }

  /// Opens a pairing window and replaces one that is open.
  ///
  /// - Parameter scope: what a machine that pairs may read; `nil` keeps its scope, or allows everything if it is new.
  public func openWindow(scope: SampleFilter?) async throws {
    _ = try await desk.open(scope: scope)
  }

  /// Serves until the group shuts down. Throws ``PeerServerError`` if the server cannot listen.
  public func run() async throws {
    let (recorderPorts, toRecorder) = AsyncStream.makeStream(of: Int.self)
    let (advertiserPorts, toAdvertiser) = AsyncStream.makeStream(of: Int.self)
    var configuration = PeerServer.Configuration(
      name: local.name, version: settings.version, host: settings.host, port: settings.port)
    configuration.wayBack = PeerDiagnostics.wayBack(to:)
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

/// The events while a store is served.
public enum ServeEvent: Sendable {
  /// The server accepts connections.
  ///
  /// - Parameters:
  ///   - addresses: the addresses at which others reach this machine.
  ///   - counts: the number of samples of each type.
  case listening(port: Int, addresses: [String], counts: [TypeCount])
  /// `/metrics` is served on this loopback port.
  case metrics(port: Int)
  /// The pairing desk did something. The audit log has it already.
  case pairing(PairingEvent)
  /// A window is open and has this code.
  case code(WindowCode)
  /// A window is open, but its code cannot be shown, because this machine's address is not allowed in a payload. Bind
  /// the server to another address and open a window again.
  case codeUnavailable(any Error)
  /// The announced name changed, or this machine cannot be announced for now; that is retried until it works.
  case advertising(AdvertisingEvent)
  /// This machine cannot be discovered. Clients that know its address are still served.
  case notAdvertised(any Error)
}

/// A pairing code, to be shown on this machine and nowhere else.
public struct WindowCode: Sendable {
  /// The code, valid for one attempt. After a wrong one, ``ServeEvent/code(_:)`` brings the next.
  public let code: PairingCode
  /// The content of the QR code that another machine needs to pair.
  public let payload: PairingPayload
  /// The latest time at which the window closes, by this machine's clock.
  public let expiresAt: Date
  /// The scope of the window; `nil` lets a machine that was paired before keep its scope.
  public let scope: SampleFilter?
  /// The name that is announced at this moment; `nil` if this machine cannot be discovered by name.
  public let name: String?
  /// The person whose record it is; `nil` if a damaged store cannot tell.
  public let person: Person?
}
