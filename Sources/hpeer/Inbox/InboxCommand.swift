import ArgumentParser
import Foundation
import HealthFormats
import HealthModel
import HealthOperations
import PeerServer
import PeerTrust
import Terminal

struct InboxCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inbox",
    abstract: "Let apps on a phone send data to this machine on their own.",
    discussion: """
      Health Auto Export, HealthAppTransfer, HealthPush and P247 send in the background. Each app gets its own address \
      and secret, which allow it to send and not to read. `hpeer serve --inbox` receives what they send.

      Examples:
        hpeer inbox add phone
        hpeer inbox add scale --types bodyMass,bodyFatPercentage
        hpeer inbox profile
        hpeer inbox list
        hpeer inbox remove phone
      """,
    subcommands: [InboxList.self, InboxAdd.self, InboxRemove.self, InboxProfileCommand.self],
    defaultSubcommand: InboxList.self)
}

struct InboxList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List the apps that may send here.")

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @Flag(help: "Also list apps that were removed; --json always does.")
  var all = false
  @OptionGroup var zone: ZoneOptions

  private struct Report: Encodable {
    struct Sender: Encodable {
      var name: String
      var state: String
      var url: String
      var types: [String]?
      var created: Date
      var lastSeen: Date?
      var revoked: Date?
    }
    var senders: [Sender]
  }

  func run() async throws {
    let home = common.homeDirectory
    let senders = try await home.openRegistryForReading().inboxSenders()
    let place = try InboxAddress(home.settings(), host: nil)
    if output.json {
      return try Console.print(
        json: Report(
          senders: senders.map {
            .init(
              name: $0.name, state: $0.revoked == nil ? "active" : "removed", url: place.url(of: $0.name),
              types: $0.types?.map(\.rawValue).sorted(), created: $0.created, lastSeen: $0.lastSeen,
              revoked: $0.revoked)
          }))
    }
    let shown = senders.filter { all || $0.revoked == nil }
    guard !shown.isEmpty else {
      return Console.say("No app may send here yet: `hpeer inbox add NAME` makes an address and a secret for one.")
    }
    var table = Table(columns: [
      .init("NAME"), .init("STATE"), .init("WHAT"), .init("LAST SEEN", isWhole: true), .init("ADDRESS", isWhole: true),
    ])
    for sender in shown {
      table.append([
        .init(sender.name), .init(sender.revoked == nil ? "active" : "removed"),
        .init(Self.text(sender.types)), .init(sender.lastSeen.map { zone.seconds(Timestamp($0)) } ?? "never"),
        .init(place.url(of: sender.name)),
      ])
    }
    try Console.print(table)
  }

  private static func text(_ types: Set<SampleType>?) -> String {
    guard let types else { return "everything" }
    return types.count == 1 ? types.first?.shortName ?? "" : "\(types.count) types"
  }
}

struct InboxAdd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Make an address and a secret for an app.",
    discussion: """
      Prints what to type into the app, once: the secret is kept nowhere. The same name again makes a new secret.

      Examples:
        hpeer inbox add phone
        hpeer inbox add phone --types stepCount,heartRate
        hpeer inbox add phone --host health.example.org
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "What to call the app: a to z, digits, - and _.")
  var name: String
  @OptionGroup(title: "What it may send") var selection: TypeOptions
  @Option(help: "The name or address of this machine in the app's address; its own name and .local by default.")
  var host: String?
  @Flag(help: "Do not ask: the phone is of the person whose record is here.")
  var mergePerson = false

  func validate() throws {
    guard InboxSender.isName(name) else {
      throw ValidationError("NAME has 1 to 40 of the letters a to z, digits, - and _.")
    }
  }

  func run() async throws {
    let home = common.homeDirectory
    // This is checked before anything is asked.
    let place = try InboxAddress(home.settings(), host: host)
    let senders = InboxSenders(try await home.openRegistry(), auditedIn: try home.createStore())
    if try await senders.needsPerson(), !mergePerson { try await askWhosePhone(home) }
    let secret = try await senders.add(name, types: selection.setWithMembers)
    Console.say("Type this into the app. The secret is shown once:")
    try Console.print("URL     \(place.url(of: name))")
    try Console.print("Header  Authorization: Bearer \(secret.text)")
    Console.say("`hpeer serve --inbox` takes what it sends. See docs/how-to/inbox.md for how to set up each app.")
    if place.scheme == "https" {
      Console.say("Unless the inbox has a certificate that the phone trusts, run `hpeer inbox profile` once.")
    }
  }

  /// Asks whose phone it is, because phones do not say.
  private func askWhosePhone(_ home: Home) async throws {
    let owner = PersonText.owner(try await home.openStore().person())
    if let owner { Console.say(owner) }
    guard Console.isInteractive else {
      throw CommandFailure(
        .anotherPerson,
        "Confirm that the phone belongs to the person whose record is here: run this on a terminal, or give --merge-person. Nothing was added."
      )
    }
    guard try await Prompt.confirm("Is the phone of the person whose record is on this machine?") else {
      throw CommandFailure(
        .anotherPerson, "Nothing was added: keep another person's record in a home of its own, with --home DIR.")
    }
  }
}

struct InboxRemove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Take an app's right to send away, at once. What it has sent stays.",
    discussion: """
      Examples:
        hpeer inbox remove phone
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "The app's name in `hpeer inbox list`.")
  var name: String

  func run() async throws {
    let home = common.homeDirectory
    let senders = InboxSenders(try await home.openRegistry(), auditedIn: try home.createStore())
    guard try await senders.remove(name) else {
      throw CommandFailure(
        .refused, "No app is called \(PlainText.escaped(name, limit: 60)): `hpeer inbox list` lists them.")
    }
    Console.say("\(name) may no longer send here.")
  }
}

/// The messages about an inbox that is served.
enum InboxPresentation {
  static func listening(_ settings: InboxSettings, port: Int) {
    let how =
      switch settings.security {
      case .ownAuthority: "with this machine's own certificate: `hpeer inbox profile` has a phone trust it"
      case .files(let certificate, _): "with the certificate in \(PlainText.escaped(certificate))"
      case .proxied: "as HTTP from this machine only, for a reverse proxy"
      case .insecure: "as HTTP"
      }
    Console.say("Inbox open on port \(port), \(how).", .information, JournalFields(.inboxStarted))
    if settings.security == .insecure {
      Console.warn("anyone on this network can read the secrets of the inbox and everything that is sent to it.")
    }
  }

  /// Warns that the days of a phone are not those that are counted here.
  static func foreignZone(_ sender: String, _ clock: ClockInBody) {
    let offset = Timestamp(clock.date).iso8601(in: TimeZone(secondsFromGMT: clock.offset) ?? .gmt).suffix(6)
    let machine = PlainText.escaped(TimeZone.current.identifier, limit: 60)
    Console.warn(
      "the clock of \(PlainText.escaped(sender)) is at \(offset), but days begin at midnight in this machine's zone, "
        + "\(machine). Set your home zone with `hpeer zone NAME`, such as Europe/Berlin.")
  }
}
