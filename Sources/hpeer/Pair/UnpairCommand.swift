import ArgumentParser
import HealthOperations
import OperatingSystem
import PeerClient
import PeerTrust
import Terminal

struct UnpairCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unpair",
    abstract: "Forget a machine that this one pulls from, and have it forget this one.",
    discussion: """
      What was pulled stays. If the other machine cannot be reached, this one forgets it all the same, and says so.

      Example:
        hpeer unpair studio
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "The machine's name, or the beginning of its id.", completion: .servers)
  var name: String

  func run() async throws {
    let home = common.homeDirectory
    let registry = try await home.openRegistry()
    let identity = try await home.identity()
    let server = try await server(in: registry)
    let shown = PlainText.escaped(server.name)
    let finder = PeerFinder(registry: registry, ownID: identity.id) { PlainText.escaped($0) }
    let local = LocalPeer(store: try home.createStore(), registry: registry, identity: identity)
    try await UnpairOperation(local, finder: finder).run(server) { error in
      let advice = server.traits.canBeTold ? " Run `hpeer revoke` there too." : ""
      Console.warn("\(shown) could not be told: \(ErrorText.sentence(error))\(advice)")
    }
    Console.say("No longer paired with \(shown).")
  }

  /// Returns the machine to forget. Throws what to do instead if a machine of that name reads from this one.
  private func server(in registry: PeerRegistry) async throws -> ServerRecord {
    do {
      return try await registry.server(matching: name)
    } catch PeerRegistryError.notFound(let missing) {
      let wanted = name.lowercased()
      let client = try await registry.clients().first {
        $0.name.lowercased() == wanted || $0.id.description.lowercased().hasPrefix(wanted)
      }
      guard let client else { throw PeerRegistryError.notFound(missing) }
      let shown = PlainText.escaped(client.name, limit: 60)
      throw CommandFailure(
        .refused,
        "\(shown) reads from this machine, and is not pulled from: `hpeer revoke \(ShellWord.quoted(shown))` ends that."
      )
    }
  }
}
