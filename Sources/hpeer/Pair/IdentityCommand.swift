import ArgumentParser
import Foundation
import HealthOperations
import OperatingSystem
import PeerProtocol
import PeerTrust
import Terminal

struct Identity: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "Show or replace the certificate by which other machines know this one.",
    discussion: """
      Machines that announce themselves go by their id. Those that this one pulls from list it under the first digits of its \
      certificate's SHA-256.

      Examples:
        hpeer identity             # to compare with what another machine shows
        hpeer identity rotate
      """,
    subcommands: [IdentityShow.self, IdentityRotate.self],
    defaultSubcommand: IdentityShow.self)
}

struct IdentityShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print this machine's id and its certificate's SHA-256.")

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption

  private struct Report: Encodable {
    var id: String
    var fingerprint: String
  }

  func run() async throws {
    let identity = try await common.homeDirectory.identity()
    if output.json {
      return try Console.print(json: Report(id: identity.id.hex, fingerprint: identity.fingerprint.hex))
    }
    try Console.print("id      \(identity.id.hex)")
    try Console.print("SHA-256 \(identity.fingerprint.grouped)")
  }
}

struct IdentityRotate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Make a new key and certificate.",
    discussion: """
      The old key signs the new certificate and is deleted. By that signature the machines that this one pulls from know it \
      again, and leave it its name and what it may read. The machines that pull from here will refuse this one, with a \
      warning, until they have paired again. A `hpeer pull --watch` that runs goes on with the old certificate, and must be \
      started again.

      If another person may have the old key (a lost disk, a stolen backup), they could show such a signature first: run \
      `hpeer revoke` for this machine on those that it pulls from, and pair again.

      Example:
        hpeer identity rotate
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var asking: YesOption

  func run() async throws {
    let home = common.homeDirectory
    // A running server would silently go on with the old key.
    let lock = try ServeLock(home)
    defer { lock.release() }
    let registry = try await home.openRegistry()
    let clients = try await registry.clients().filter { $0.revoked == nil }
    let servers = try await registry.servers()
    let count = HumanFormat.count(clients.count, "machine that pulls from here", "machines that pull from here")
    guard try await asking.confirm("Replace this machine's certificate? \(count) must then pair again.") else {
      throw CommandFailure(.interrupted, "Nothing was changed.")
    }
    let identity = try await IdentityRotation(in: home, auditedIn: try home.createStore(), holding: lock).run()
    Console.say("This machine has a new certificate. SHA-256 \(identity.fingerprint.grouped)")
    let name = Hostname.short
    if !clients.isEmpty {
      Console.say(
        "These machines refuse it until they pair again. On each, run `hpeer unpair \(name)`, then `hpeer pair \(name)`:"
      )
      for client in clients { Console.say("  \(PlainText.escaped(client.name)) (\(client.id.short))") }
    }
    if !servers.isEmpty {
      Console.say("These know this machine again by the old key's signature, when it pulls from them next:")
      for server in servers { Console.say("  \(PlainText.escaped(server.name)) (\(server.id.short))") }
      Console.say(
        "If another person may have the old key, run `hpeer revoke \(name)` there and `hpeer pair` here instead.")
    }
  }
}
