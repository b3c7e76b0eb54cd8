import ArgumentParser
import HealthOperations
import Terminal

struct Revoke: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Revoke a machine's access to this record at once.",
    discussion: """
      Examples:
        hpeer revoke laptop
        hpeer revoke --all
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "The machine's name, or the beginning of its id.", completion: .clients)
  var name: String?
  @Flag(help: "Every machine.")
  var all = false

  func validate() throws {
    guard (name != nil) != all else { throw ValidationError("Name a machine, or give --all.") }
  }

  func run() async throws {
    let home = common.homeDirectory
    let registry = try await home.openRegistry()
    let rights = ClientRights(registry, auditedIn: try home.createStore())
    guard let name else {
      let count = try await rights.revokeAll()
      Console.say("\(HumanFormat.count(count, "machine")) may no longer read here.")
      return
    }
    let client = try await rights.revoke(matching: name)
    Console.say("\(PlainText.escaped(client.name)) may no longer read here.")
  }
}
