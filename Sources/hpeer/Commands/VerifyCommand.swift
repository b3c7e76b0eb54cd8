import ArgumentParser
import HealthModel
import HealthOperations
import OperatingSystem
import PeerClient
import PeerTrust
import Terminal

struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Compare this machine's store with another's.",
    discussion: """
      Compares digests of both: which samples there are, and which deletions are known; with --deep also what each \
      sample says, which reads all of them. Changes nothing. Where they differ, it names the types and the months, and \
      ends with exit code 9. Only what the other machine lets this one see is compared.

      Examples:
        hpeer verify studio
        hpeer verify --types heartRate,workout --deep
        hpeer verify --host 192.168.1.20 --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @Argument(help: "The other machine's name, or the beginning of its id.", completion: .servers)
  var name: String?
  @Option(help: "The other machine's address, HOST[:PORT], instead of looking for it.")
  var host: String?
  @OptionGroup var selection: TypeOptions
  @Flag(help: "Compare what the samples say, too.")
  var deep = false
  @Option(help: "Give up when the other machine says nothing for so many seconds.")
  var timeout = PeerConnection.silenceLimit

  func validate() throws {
    guard (1...3600).contains(timeout) else { throw ValidationError("--timeout takes 1 to 3600 seconds.") }
    if name != nil, host != nil { throw ValidationError("Give a name or --host, not both.") }
  }

  func run() async throws {
    ProcessMemory.returnLargeBlocks()
    let home = common.homeDirectory
    let registry = try await home.openRegistryForReading()
    let store = try home.openStore()
    if host == nil, try await registry.servers().isEmpty {
      throw CommandFailure(
        .refused,
        "Nothing is paired to compare with: `hpeer pair NAME` pairs with a machine, and `hpeer discover` finds names.")
    }
    let ownID = try await IdentityStore.existing(in: home.url)?.id
    let finder = PeerFinder(registry: registry, ownID: ownID, silenceLimit: timeout) { PlainText.escaped($0) }
    let target =
      if let host { try await finder.target(at: try PeerEndpoint(hostOption: host)) } else {
        try await finder.target(named: name)
      }
    switch target {
    case .unpaired(let name, _): throw PeerError.notPaired(peer: PlainText.escaped(name))
    case .paired(let server, let endpoints):
      let operation = VerifyOperation(
        LocalPeer(store: store, registry: registry, identity: try await home.identity()), finder: finder,
        types: selection.types.withMembers,
        isDeep: deep, silenceLimit: timeout, progress: ProgressBars())
      let verification = try await interruptible { try await operation.run(with: server, at: endpoints) }
      let presentation = VerifyPresentation(server: server, verification: verification)
      if output.json { try Console.print(json: presentation.report) } else { try presentation.print() }
      try presentation.requireEqual()
    }
  }
}
