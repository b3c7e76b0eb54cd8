import ArgumentParser
import Destinations
import Foundation
import HealthOperations
import HealthStore
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
        hpeer serve --inbox                # takes what apps send, see `hpeer inbox`
        hpeer serve --types heartRate,stepCount --from 2024-01-01
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var serving: ServingOptions
  @Flag(help: "Print HealthAppTransfer's JSON for the code on standard output.")
  var pairingJSON = false
  @Flag(inversion: .prefixedNo, help: "Show the QR code on a terminal.")
  var qr = true
  @OptionGroup(title: "What a machine that pairs may read") var scope: ScopeOptions

  func run() async throws {
    ProcessMemory.returnLargeBlocks()
    if pairingJSON { try OutputWriter.standardOutput.requireOpen() }
    let home = common.homeDirectory
    let store = try home.createStore()
    let lock = try ServeLock(home)
    defer { lock.release() }
    let local = try await serving.peer(store, in: home)
    let logger = Logger(label: "hpeer") { TerminalLogHandler(label: $0) }
    var serving = Serving(
      home: home, local: local, options: serving, zone: try await scope.period.zone.timeZone(in: store), logger: logger)
    serving.scope = try await scope.scope(in: store)
    (serving.showsQR, serving.pairingJSON) = (qr, pairingJSON)
    let reporting = ServiceReporting.ofProcess(home: home, store: store, serves: true)
    serving.onListening = { await reporting?.ready("Serving on port \($0)") }
    var services = try await serving.services(holding: lock)
    services.append(.init(service: ExpiryMonitor(home, tell: EndingText.warn)))
    // The last service is the first to be shut down.
    if let reporting { services.append(.init(service: reporting)) }
    try await ServiceGroup(
      configuration: .init(services: services, gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
    ).run()
    Console.say(
      "Goodbye. This machine no longer shares its record.", .information, JournalFields(.processStopped))
  }
}

/// The options for serving a record, shared by commands.
struct ServingOptions: ParsableArguments {
  @Option(help: "The port to listen on; 0 picks a free one.")
  var port = Route.defaultPort
  @Option(help: "The address to listen on instead of all.")
  var bind: String?
  @Option(help: "The name that others see; this machine's host name by default.")
  var name: String?
  @Flag(help: "Answer no paired machine until `hpeer unlock`.")
  var locked = false
  @Flag(help: "After `hpeer restore`: answer at once, without asking paired machines what was deleted meanwhile.")
  var now = false
  @OptionGroup var lifetime: TokenLifetimeOption
  @Option(help: "Delete audit events after this many days; 0 keeps them forever.")
  var auditDays = AuditRetention.defaultDays
  @Option(help: "Also serve metrics for Prometheus at /metrics on this port of 127.0.0.1; 0 picks a free one.")
  var metrics: Int?
  @Flag(help: "Do not announce this machine through Avahi.")
  var noAdvertise = false
  @OptionGroup(title: "Inbox") var inbox: InboxOptions

  func validate() throws {
    try ListeningPort.require(port, "--port")
    try ListeningPort.require(metrics ?? 0, "--metrics")
    guard (0...100_000).contains(auditDays) else {
      throw ValidationError("--audit-days takes a number of days, or 0 to keep everything.")
    }
  }

  /// Returns this machine as others see it.
  func peer(_ store: HealthStore, in home: Home) async throws -> LocalPeer {
    LocalPeer(
      store: store, registry: try await home.openRegistry(), identity: try await home.identity(),
      name: name ?? Hostname.short)
  }

  var settings: ServeSettings {
    var settings = ServeSettings(version: Hpeer.version)
    settings.host = bind
    settings.port = port
    settings.tokenLifetime = lifetime.seconds ?? PairedClient.defaultTokenLifetime
    settings.isAdvertised = !noAdvertise
    settings.auditDays = auditDays
    settings.metricsPort = metrics
    return settings
  }
}

/// The ports that a command may be told to listen on; 0 picks a free one.
enum ListeningPort {
  static let range = 0...65_535
  /// The options that name a port.
  private static let options: Set = ["port", "inbox-port", "metrics"]

  /// Throws a usage error if the port is out of range.
  static func require(_ port: Int, _ option: String) throws {
    guard range.contains(port) else { throw ValidationError("\(option) \(takes).") }
  }

  /// Returns the port that a setting names, which may be written as a text; `nil` if the option is not a port.
  ///
  /// - Throws: `SettingsError` if the value is no port.
  static func port(_ value: DestinationSettings.Value?, of option: String) throws(SettingsError) -> Int? {
    guard options.contains(option), let value else { return nil }
    switch value {
    case .integer(let number) where range.contains(number): return number
    case .text(let text):
      if let number = Int(text), range.contains(number) { return number }
      fallthrough
    default: throw SettingsError(option, .invalid(takes))
    }
  }

  private static var takes: String { "takes a number from \(range.lowerBound) to \(range.upperBound)" }
}
