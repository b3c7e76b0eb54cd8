import ArgumentParser
import HealthOperations
import Logging
import OperatingSystem
import PeerClient
import PeerTrust
import ServiceLifecycle
import Terminal
import UnixSignals

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Serve, follow paired machines, deliver to destinations and run automations, all in one process.",
    discussion: """
      What `hpeer serve`, `hpeer pull --watch --all` and `hpeer sync` do, for as long as it runs: a record that is kept in \
      step on both sides. What an automation delivers or pulls in its time is left to it. SIGTERM and Ctrl-C end it in good order; SIGHUP reads the settings again, and drops no answer. \
      Machines that pair meanwhile are followed, destinations that are paused or resumed stop and go on within seconds.

      Examples:
        hpeer run
        hpeer run --no-serve
        hpeer run --inbox
        hpeer run --no-automate
        hpeer run --port 0 --name attic
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var serving: ServingOptions
  @Flag(inversion: .prefixedNo, help: "Serve this machine's record to paired machines.")
  var serve = true
  @Flag(inversion: .prefixedNo, help: "Follow the machines that this one pulls from.")
  var follow = true
  @Flag(inversion: .prefixedNo, help: "Deliver to the destinations of the settings.")
  var deliver = true
  @Flag(inversion: .prefixedNo, help: "Do what the automations of the settings say.")
  var automate = true

  /// The parts that run, for the service manager.
  private var parts: String {
    let all = [("serving", serve), ("following", follow), ("delivering", deliver), ("automating", automate)]
    let words = all.filter(\.1).map(\.0).joined(separator: ", ")
    return words.prefix(1).uppercased() + words.dropFirst()
  }

  func validate() throws {
    let isAsked = serve || follow || deliver || automate || serving.inbox.inbox
    guard isAsked else { throw ValidationError("Nothing to run: every part is switched off.") }
  }

  func run() async throws {
    ProcessMemory.returnLargeBlocks()
    let home = common.homeDirectory
    let store = try home.createStore()
    // Two running processes would both follow and deliver.
    let lock = try ServeLock(home)
    defer { lock.release() }
    let local = try await serving.peer(store, in: home)
    let logger = Logger(label: "hpeer") { TerminalLogHandler(label: $0) }
    let reloads = Reloads()
    let reporting = ServiceReporting.ofProcess(home: home, store: store, serves: serve, status: parts)
    var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
      .init(service: ReloadOnHangup(home: home, reloads: reloads, reporting: reporting)),
      .init(service: ExpiryMonitor(home, tell: EndingText.warn)), .init(service: StorePresence(store)),
    ]
    let zone = serve ? try HomeZone(try await store.settings.current()).timeZone : .current
    var server = Serving(home: home, local: local, options: serving, zone: zone, logger: logger)
    server.onListening = { [parts] port in await reporting?.ready("\(parts), on port \(port)") }
    services += serve ? try await server.services(holding: lock) : server.inboxServices
    let pull = PullOperation(
      local, finder: PeerFinder(registry: local.registry, ownID: local.identity.id) { PlainText.escaped($0) },
      persons: PersonCheck(local.registry), notice: PeerPrompts.tell)
    if follow {
      let operation = FollowOperation(pull, waitsForRoom: true) { try FollowPresentation.tell($1, of: $0, json: false) }
      services.append(.init(service: FollowingService(home, local.registry, operation, reloads: reloads)))
    }
    if deliver {
      services.append(
        .init(service: DeliveryService(home, store, reloads: reloads, tell: DeliveryPresentation.tell)))
    }
    if automate {
      let context = AutomationContext(home, local, pull: pull, program: Hpeer.version)
      services.append(
        .init(
          service: AutomationService(
            context, reloads: reloads, words: ErrorText.sentence, tell: AutomationPresentation.tell)))
    }
    // The last service is the first to be shut down.
    if let reporting { services.append(.init(service: reporting)) }
    try await ServiceGroup(
      configuration: .init(services: services, gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
    ).run()
    Console.say(
      "Goodbye: nothing is served, followed, delivered or done by itself on this machine any more.", .information,
      JournalFields(.processStopped))
  }
}

/// A service that has the settings read again on SIGHUP.
private struct ReloadOnHangup: Service {
  let home: Home
  let reloads: Reloads
  let reporting: ServiceReporting?

  func run() async throws {
    let signals = await UnixSignalsSequence(trapping: .sighup)
    await cancelWhenGracefulShutdown {
      for await _ in signals {
        guard let reporting else { await reload(); continue }
        await reporting.reload(reload)
      }
    }
  }

  @Sendable private func reload() async {
    Console.say("Reading the settings again.", .information, JournalFields(.settingsRead))
    reloads.request()
    // Each part that needs the settings reports what is wrong with them.
    _ = try? await onThread { [home] _ in try home.settings() }
  }
}
