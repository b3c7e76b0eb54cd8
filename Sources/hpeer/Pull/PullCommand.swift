import ArgumentParser
import Foundation
import HealthModel
import HealthOperations
import HealthStore
import OperatingSystem
import PeerClient
import PeerProtocol
import PeerTrust
import Terminal

struct PullCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pull",
    abstract: "Bring this machine's store up to date with another's.",
    discussion: """
      Finds the other machine, pairs with it the first time, and fetches what changed since the last pull. Without a \
      name it is the one machine that this one is paired with. Interrupted anywhere, it goes on where it stopped.

      With --watch it then waits for what happens on the other machine, and has it here a moment later, until Ctrl-C or \
      SIGTERM ends it with exit code 0. It says when something has come, when contact is lost and when it is back, and \
      nothing else; --json prints one object for each time that something has come. It keeps trying while the other \
      machine is away, and finds it at another address; it ends when that does not accept this machine any more (4), \
      shows another certificate (8), holds another person's record (13), or this store cannot be written.

      Whose record it is, is compared first, without either machine sending it: nothing is fetched from a machine that \
      holds another person's. Where one of them knows no date of birth, or it was corrected, you must say once that \
      it is the same person, on a terminal or with --merge-person; that is remembered until it changes again.

      Examples:
        hpeer pull studio
        hpeer pull
        hpeer pull --host 192.168.1.20
        hpeer pull --all --json
        hpeer pull --watch --all
        hpeer pull --verify
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @Argument(help: "The other machine's name, or the beginning of its id.", completion: .servers)
  var name: String?
  @Option(help: "The other machine's address, HOST[:PORT], instead of looking for it.")
  var host: String?
  @Flag(help: "Pull from every machine that this one is paired with.")
  var all = false
  @Flag(help: "Keep pulling what is new until Ctrl-C.")
  var watch = false
  @Flag(help: "Read the code from standard input if pairing is needed.")
  var codeStdin = false
  @OptionGroup var selection: TypeOptions
  @Flag(help: "Compare from the beginning instead of from the last pull; adds nothing twice.")
  var full = false
  @Flag(
    help: ArgumentHelp(
      "Treat samples that a phone no longer lists as deleted, if it is safe.",
      discussion: "The apps on phones tell no deletions. See docs/how-to/phones.md for when something counts as one."))
  var inferDeletions = false
  @Flag(help: "Fetch even if the record there is, or may be, another person's; remembered until that changes.")
  var mergePerson = false
  @Flag(help: "Compare both stores afterwards, as `hpeer verify` does; exit code 9 where they differ.")
  var verify = false
  @Flag(help: "With --verify, also compare what the samples say.")
  var deep = false
  @Option(help: "Give up when the other machine says nothing for so many seconds.")
  var timeout = PeerConnection.silenceLimit

  func validate() throws {
    if all, mergePerson {
      throw ValidationError("--merge-person applies to one machine at a time. Give its name instead of --all.")
    }
    if all, name != nil || host != nil { throw ValidationError("--all takes no name and no --host.") }
    guard (1...3600).contains(timeout) else { throw ValidationError("--timeout takes 1 to 3600 seconds.") }
    if watch, timeout < Follow.leastSilenceLimit {
      throw ValidationError("--watch needs a --timeout of at least \(Follow.leastSilenceLimit) seconds.")
    }
    if watch, verify { throw ValidationError("--watch has no end that --verify could come after: run `hpeer verify`.") }
    if watch, inferDeletions {
      throw ValidationError(
        "--infer-deletions reads everything, which --watch does not: run `hpeer pull --infer-deletions`.")
    }
    if inferDeletions, !selection.types.isEmpty {
      throw ValidationError(
        "--infer-deletions looks at all types together, so that a permission which was taken back is not taken for deletions: leave --types out."
      )
    }
    if deep, !verify { throw ValidationError("--deep goes with --verify.") }
    if name != nil, host != nil { throw ValidationError("Give a name or --host, not both.") }
  }

  func run() async throws {
    ProcessMemory.returnLargeBlocks()
    let home = common.homeDirectory
    // Each takes some milliseconds, and a pull that finds nothing new has little else to do.
    async let openedRegistry = home.openRegistry()
    async let ownIdentity = home.identity()
    async let openedStore = onThread { _ in try home.openStoreIfThere() }
    let (registry, identity, existing) = try await (openedRegistry, ownIdentity, openedStore)
    let finder = PeerFinder(registry: registry, ownID: identity.id, silenceLimit: timeout) { PlainText.escaped($0) }
    let servers = all ? try await registry.servers() : []
    if all, servers.isEmpty {
      throw CommandFailure(
        .refused, "This machine is not paired with any other yet: run `hpeer pull NAME` or `hpeer pair NAME` first.")
    }
    let target = all ? nil : try await target(finder)
    // The store is created only when there is a machine to pull from: an empty store would look like a filled one.
    let store: HealthStore
    if let existing { store = existing } else { store = try await onThread { _ in try home.createStore() } }
    let local = LocalPeer(store: store, registry: registry, identity: identity)
    let pull = PullOperation(
      local, finder: finder, persons: PersonCheck(registry, merges: mergePerson), types: selection.types.withMembers,
      isFull: full,
      infersDeletions: inferDeletions, silenceLimit: timeout, progress: ProgressBars(),
      confirm: PeerPrompts.confirmation,
      notice: PeerPrompts.tell)
    let comparison =
      verify
      ? VerifyOperation(
        local, finder: finder, types: selection.types.withMembers, isDeep: deep, silenceLimit: timeout,
        progress: ProgressBars())
      : nil
    switch target {
    case nil: try await pullAll(servers, pull, comparison)
    case .paired(let server, let endpoints):
      try await run(pull, comparison, server, endpoints)
    case .unpaired(let name, let endpoints):
      Console.say("Found \(PlainText.escaped(name)), not paired yet.")
      let dialogue = PairingDialogue(home, registry: registry, identity: identity, finder: finder)
      let server = try await dialogue.pair(with: endpoints, code: codeStdin ? .standardInput : .prompt)
      try await dialogue.introduce(to: server)
      try await run(pull, comparison, server, endpoints)
    }
  }

  private func run(
    _ pull: PullOperation, _ comparison: VerifyOperation?, _ server: ServerRecord, _ endpoints: [PeerEndpoint]
  ) async throws {
    if watch { return try await FollowPresentation(pull: pull, json: output.json).follow([(server, endpoints)]) }
    guard let comparison else {
      let result = try await interruptible { try await pull.run(from: server, at: endpoints) }
      try PullPresentation(result: result).print(json: output.json)
      // If there was a record before, the advice was given then.
      let held = try await pull.store.samples.typeCounts().map(\.samples).reduce(0, +)
      if !output.json, result.done.added > 0, held <= result.done.added {
        try await ZoneAdvice(pulledInto: pull.store, from: server.name, zone: await pull.homeZone(of: server)).give()
      }
      return
    }
    let (result, verification) = try await interruptible {
      try await pull.run(from: server, at: endpoints, comparingBy: comparison)
    }
    let presentation = VerifyPresentation(server: server, verification: verification)
    try PullPresentation(result: result, verification: presentation.report).print(json: output.json)
    if !output.json { try presentation.print() }
    try presentation.requireEqual()
  }

  private func target(_ finder: PeerFinder) async throws -> PeerTarget {
    guard let host = host ?? name.flatMap(PeerEndpoint.address) else { return try await finder.target(named: name) }
    let endpoint = try PeerEndpoint(hostOption: host)
    return try await finder.target(at: endpoint)
  }

  /// Pulls from all machines. If one of them is away, the others are pulled all the same; the first failure becomes
  /// the command's.
  private func pullAll(
    _ servers: [ServerRecord], _ pull: PullOperation, _ comparison: VerifyOperation?
  ) async throws {
    if watch {
      return try await FollowPresentation(pull: pull, json: output.json)
        .follow(servers.map { ($0, PeerFinder.hint(of: $0)) })
    }
    var failure: ExitStatus?
    for server in servers {
      do {
        try await run(pull, comparison, server, PeerFinder.hint(of: server))
      } catch let error as OutputError {
        // The output failed, not the machine, so there is no use in going on.
        throw error
      } catch {
        let status = ExitStatus.of(error)
        if status == .interrupted { throw error }
        Console.say("\(PlainText.escaped(server.name)): \(ErrorText.of(error))")
        if output.json { try FailedPull.print(server, error) }
        failure = failure ?? status
      }
    }
    if let failure { throw ExitCode(failure.rawValue) }
  }
}
