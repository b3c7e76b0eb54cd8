import Foundation
import HealthOperations
import HealthStore
import Logging
import PeerDiscovery
import PeerProtocol
import PeerServer
import PeerTrust
import ServiceLifecycle
import Terminal

/// Everything that runs while `hpeer serve` runs, started and drained together.
struct ServeSession {
  private let home: Home
  private let store: HealthStore
  private let name: String
  private let host: String?
  private let port: Int
  private let presentation: ServePresentation
  private let advertise: Bool
  private let auditDays: Int
  private let identity: PeerIdentity
  private let registry: PeerRegistry
  private let events = PairingEvents()
  private let audit: AuditTrail
  private let logger: Logger
  private let desk: PairingDesk

  init(
    home: Home, store: HealthStore, name: String, host: String?, port: Int, presentation: ServePresentation,
    tokenLifetime: TimeInterval, advertise: Bool, auditDays: Int
  ) async throws {
    self.home = home
    self.store = store
    self.name = name
    self.host = host
    self.port = port
    self.presentation = presentation
    self.advertise = advertise
    self.auditDays = auditDays
    identity = try await home.identity()
    registry = try await home.openRegistry()
    logger = Logger(label: "hpeer") { TerminalLogHandler(label: $0) }
    audit = AuditTrail(store: store, logger: logger)
    var limits = PairingDesk.Limits()
    limits.tokenLifetime = tokenLifetime
    desk = try await PairingDesk(
      identity: identity, directory: home.url, limits: limits, events: { [events] in events.send($0) }
    ) { [registry, audit] client in
      guard let formerID = try await registry.addClient(client) else { return }
      await audit.rotated(client.name, from: formerID, to: client.id)
    }
  }

  func run() async throws {
    let (displayPorts, toDisplay) = AsyncStream.makeStream(of: Int.self)
    let (advertiserPorts, toAdvertiser) = AsyncStream.makeStream(of: Int.self)
    let server = try PeerServer(
      .init(name: name, version: Hpeer.version, host: host, port: port), store: store, registry: registry,
      identity: identity, desk: desk, audit: audit, logger: logger
    ) { [audit, name] port in
      await audit.record(.serverStarted, ["port": String(port), "name": name])
      toDisplay.yield(port)
      toAdvertiser.yield(port)
    }
    let announced = advertise ? name : nil
    let display = DisplayService(
      ports: displayPorts, desk: desk, events: events, audit: audit, store: store, identity: identity, name: name,
      announced: announced, host: host, presentation: presentation)
    let control = ControlServer(
      path: home.socketPath, name: announced, desk: desk, events: events, logger: logger
    ) { code, expiry in
      try display.payload(code, expiry)
    }
    var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
      .init(service: control), .init(service: display),
    ]
    if advertise {
      services.append(
        .init(
          service: AdvertisingService(
            ports: advertiserPorts, name: name, id: identity.id, desk: desk, events: events,
            presentation: presentation)))
    }
    if auditDays > 0 {
      services.append(
        .init(
          service: AuditRetention(store: store, days: auditDays, logger: logger),
          successTerminationBehavior: .ignore))
    }
    services.append(.init(service: server, successTerminationBehavior: .gracefullyShutdownGroup))
    var configuration = ServiceGroupConfiguration(
      services: services, gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
    configuration.maximumGracefulShutdownDuration = .seconds(5)
    do {
      try await ServiceGroup(configuration: configuration).run()
    } catch {
      await audit.record(.serverStopped, ["reason": "failed"])
      throw error
    }
    await desk.close()
    await audit.record(.serverStopped, ["reason": "asked"])
    Console.say("Goodbye: nothing is shared from this machine any more.")
  }
}
