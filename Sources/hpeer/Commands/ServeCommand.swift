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
    services.append(.init(service: EndingWatch(home, tell: EndingText.warn)))
    // Last, so that it is the first to hear of the end.
    if let reporting { services.append(.init(service: reporting)) }
    try await ServiceGroup(
      configuration: .init(services: services, gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
    ).run()
    Console.say(
      "Goodbye: nothing is shared from this machine any more.", .information, EntryFields(.processStopped))
  }
}
