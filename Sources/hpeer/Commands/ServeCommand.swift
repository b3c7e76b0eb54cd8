import ArgumentParser
import Foundation
import HealthOperations
import Logging
import OperatingSystem
import PeerProtocol
import PeerTrust
import ServiceLifecycle
import Terminal

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Offer this machine's record to paired machines.",
    discussion: """
      Announces _healthsync._tcp through Avahi and serves over TLS until Ctrl-C. On a terminal it shows a pairing code \
      and a QR code; n and Enter makes a new code. Elsewhere (systemd, ssh -T) it logs plain lines and shows no code:
      `hpeer pair --wait` opens a window then.

      Examples:
        hpeer serve
        hpeer serve --port 0 --name attic
        hpeer serve --pairing-json
        hpeer serve --types heartRate,stepCount --from 2024-01-01
      """)

  @OptionGroup var common: CommonOptions
  @Option(help: "The port to listen on; 0 picks a free one.")
  var port = Route.defaultPort
  @Option(help: "The address to listen on instead of all.")
  var bind: String?
  @Option(help: "The name that others see; this machine's host name by default.")
  var name: String?
  @Flag(help: "Print HealthAppTransfer's JSON for the code on standard output.")
  var pairingJSON = false
  @Flag(inversion: .prefixedNo, help: "Show the QR code on a terminal.")
  var qr = true
  @OptionGroup(title: "What a machine that pairs may read") var scope: ScopeOptions
  @OptionGroup var lifetime: TokenLifetimeOption
  @Option(help: "Forget audit events after this many days; 0 keeps them for ever.")
  var auditDays = AuditRetention.defaultDays
  @Flag(help: "Do not announce this machine through Avahi.")
  var noAdvertise = false

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port takes a number from 0 to 65535.") }
    guard (0...100_000).contains(auditDays) else {
      throw ValidationError("--audit-days takes a number of days, or 0 to keep everything.")
    }
  }

  func run() async throws {
    if pairingJSON { try OutputWriter.standardOutput.requireOpen() }
    let home = common.homeDirectory
    let store = try home.createStore()
    let lock = try ServeLock(home)
    defer { lock.release() }
    let identity = try await home.identity()
    let local = LocalPeer(
      store: store, registry: try await home.openRegistry(), identity: identity, name: name ?? Hostname.short)
    let isInteractive = Console.isInteractive
    let scope = try await scope.scope(in: store)
    let presentation = ServePresentation(
      name: local.name, fingerprint: identity.fingerprint, isAdvertised: !noAdvertise, interactive: isInteractive,
      showQR: qr, pairingJSON: pairingJSON, zone: try await self.scope.period.zone.timeZone(in: store))
    let logger = Logger(label: "hpeer") { TerminalLogHandler(label: $0) }
    let (listening, listens) = AsyncStream.makeStream(of: Void.self)
    let operation = try await ServeOperation(home, local, settings, holding: lock, logger: logger) { event in
      presentation.tell(event)
      if case .listening = event { listens.yield() }
    }
    // The keys are of use only while the server runs.
    var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
      .init(service: operation, successTerminationBehavior: .gracefullyShutdownGroup)
    ]
    if isInteractive {
      services.insert(
        .init(service: WindowKeys(operation: operation, scope: scope, listening: listening)), at: 0)
    }
    try await ServiceGroup(
      configuration: .init(services: services, gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
    ).run()
    Console.say("Goodbye: nothing is shared from this machine any more.")
  }

  private var settings: ServeSettings {
    var settings = ServeSettings(version: Hpeer.version)
    settings.host = bind
    settings.port = port
    settings.tokenLifetime = lifetime.seconds ?? PairedClient.defaultTokenLifetime
    settings.isAdvertised = !noAdvertise
    settings.auditDays = auditDays
    return settings
  }
}
