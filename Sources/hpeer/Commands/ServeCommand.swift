import ArgumentParser
import Foundation
import HealthStore
import Logging
import OperatingSystem
import PeerDiscovery
import PeerProtocol
import PeerServer
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
    let session = try await ServeSession(
      home: home, store: store, name: name ?? Hostname.short, host: bind, port: port,
      presentation: ServePresentation(
        interactive: Console.isInteractive, showQR: qr, pairingJSON: pairingJSON, scope: scope.scope),
      tokenLifetime: lifetime.seconds ?? PairedClient.defaultTokenLifetime, advertise: !noAdvertise,
      auditDays: auditDays)
    try await session.run()
  }
}
