import ArgumentParser
import HealthOperations
import HealthStore
import Terminal

struct Revoke: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Take a machine's right to read here away, at once.",
    discussion: """
      Examples:
        hpeer revoke laptop
        hpeer revoke --all
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "The machine's name, or the beginning of its id.")
  var name: String?
  @Flag(help: "Every machine.")
  var all = false

  func validate() throws {
    guard (name != nil) != all else { throw ValidationError("Name a machine, or give --all.") }
  }

  func run() async throws {
    let home = common.homeDirectory
    let registry = try await home.openRegistry()
    let store = try home.createStore()
    guard let name else {
      let count = try await registry.revokeAll()
      try await store.record(AuditEvent(.tokenRevoked, ["peer": "all", "count": String(count)]))
      Console.say("\(HumanFormat.count(count, "machine")) may no longer read here.")
      return
    }
    let client = try await registry.revoke(matching: name)
    try await store.record(AuditEvent(.tokenRevoked, ["peer": client.name, "id": client.id.hex]))
    Console.say("\(PlainText.escaped(client.name)) may no longer read here.")
  }
}
