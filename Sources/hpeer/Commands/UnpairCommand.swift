import ArgumentParser
import HealthOperations
import HealthStore
import PeerClient
import PeerTrust
import Terminal

struct Unpair: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unpair",
    abstract: "Forget a machine that this one pulls from, and have it forget this one.",
    discussion: """
      What was pulled stays. If the other machine cannot be reached, this one forgets it all the same, and says so.

      Example:
        hpeer unpair studio
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "The machine's name, or the beginning of its id.")
  var name: String

  func run() async throws {
    let home = common.homeDirectory
    let registry = try await home.openRegistry()
    let identity = try await home.identity()
    let server = try await registry.server(matching: name)
    let shown = PlainText.escaped(server.name)
    do {
      let finder = PeerFinder(registry: registry, ownID: identity.id) { PlainText.escaped($0) }
      _ = try await finder.reach(server, endpoints: PeerFinder.hint(of: server)) { endpoint in
        try await PeerClient.Unpair.tell(server, at: endpoint, identity: identity)
      }
    } catch {
      Console.warn("\(shown) could not be told: \(ErrorText.sentence(error)) Run `hpeer revoke` there too.")
    }
    try await registry.removeServer(id: server.id)
    try await home.createStore().record(
      AuditEvent(.pairingEnded, ["peer": server.name, "id": server.id.hex, "by": "here"]))
    Console.say("No longer paired with \(shown).")
  }
}
