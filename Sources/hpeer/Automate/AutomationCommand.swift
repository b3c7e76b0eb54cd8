import ArgumentParser
import Destinations
import Foundation
import HealthModel
import HealthOperations
import HealthStore
import PeerClient
import PeerTrust
import Terminal

struct AutomationCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "automation",
    abstract: "Manage automations: what hpeer does on its own, and when.",
    discussion: """
      Automations are in config.toml, which you may edit by hand. `hpeer run` does them in their time; `hpeer sync` does \
      those that are due. What was missed is made up once, nothing runs twice at once, and every run is in the audit log.

      Examples:
        hpeer automation kinds
        hpeer automation add nightly --when time --do deliver --set at=03:00 \\
          --set destinations=bucket
        hpeer automation add drop --when file --do import --set folder=~/Downloads \\
          --set pattern="export*.zip"
        hpeer automation list
        hpeer automation run nightly
        hpeer automation history nightly
      """,
    subcommands: [
      AutomationList.self, AutomationAdd.self, AutomationKinds.self, AutomationRunCommand.self, AutomationPause.self,
      AutomationResume.self, AutomationHistory.self, AutomationRemove.self,
    ],
    defaultSubcommand: AutomationList.self)
}

/// The argument that names the automation of a command.
struct AutomationArgument: ParsableArguments {
  @Argument(help: "The automation's name, as `hpeer automation list` has it.", completion: .automations)
  var name: String

  func automation(_ home: Home) throws -> Automation { try Self.automation(name, home) }

  static func automation(_ name: String, _ home: Home) throws -> Automation {
    let automations = try Automation.all(in: try home.settings())
    if let automation = automations.first(where: { $0.name == name }) { return automation }
    let similar = SimilarNames.suggestions(for: name, among: automations.map(\.name))
    throw ValidationError(
      "There is no automation called \(PlainText.escaped(name, limit: 80))"
        + (similar.isEmpty
          ? ": `hpeer automation list` has them." : "; did you mean \(similar.joined(separator: " or "))?"))
  }
}

struct AutomationList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List automations: what each waits for and does, and when it did so last and will next.")

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @OptionGroup var zone: HomeZoneOptions

  func run() async throws {
    let home = common.homeDirectory
    let store = try home.openStoreForReadingIfThere()
    let reports = try await AutomationReport.all(try home.settings(), store)
    if output.json { return try Console.print(json: ["automations": reports]) }
    guard !reports.isEmpty else {
      return Console.say(
        "No automation yet. Add one with `hpeer automation add NAME`; `hpeer automation kinds` lists triggers and actions."
      )
    }
    let zone = try await zone.timeZone(in: store)
    var table = Table(columns: [
      .init("NAME"), .init("WHEN"), .init("DOES"), .init("STATE"), .init("LAST", isWhole: true),
      .init("NEXT", isWhole: true),
    ])
    for report in reports {
      table.append([
        .init(report.name), .init(report.when), .init(report.do), .init(report.state.rawValue),
        .init(report.last.map { $0.shortText(in: zone) } ?? "never"),
        .init(report.next.map { $0.shortText(in: zone) } ?? "-"),
      ])
    }
    try Console.print(table)
    for report in reports {
      guard let reason = report.reason else { continue }
      try Console.print("\(report.name): \(PlainText.escaped(reason, limit: 500))")
    }
  }
}

struct AutomationKinds: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kinds", abstract: "List what an automation may wait for and do, and the settings of each.")

  @OptionGroup var output: JSONOption

  private struct Kind: Encodable {
    var name: String
    var summary: String
    var settings: [DestinationKindsCommand.Setting]
  }

  func run() async throws {
    let whens = AutomationTrigger.Kind.allCases.map { ($0.rawValue, $0.summary, $0.fields) }
    // These are the settings after any trigger but a file.
    let dos = AutomationAction.Kind.allCases.map { ($0.rawValue, $0.summary, $0.fields(after: .change)) }
    if output.json {
      func kinds(_ all: [(String, String, [SettingField])]) -> [Kind] {
        all.map { Kind(name: $0, summary: $1, settings: $2.map(DestinationKindsCommand.Setting.init)) }
      }
      return try Console.print(json: ["when": kinds(whens), "do": kinds(dos)])
    }
    for (title, all) in [("WHEN", whens), ("DO", dos)] {
      var table = Table(columns: [.init(title), .init("WHAT IT IS", isWhole: true), .init("SETTINGS", isWhole: true)])
      for (name, summary, fields) in all {
        let settings = fields.map { "\($0.key)\($0.isRequired ? "" : "?")" }.joined(separator: " ")
        table.append([.init(name), .init(summary), .init(settings)])
      }
      try Console.print(table)
      if title == "WHEN" { try Console.print("") }
    }
  }
}

struct AutomationRunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run an automation now.",
    discussion: """
      Paused and disabled automations run as well. With a file trigger, --file gives the file.

      Examples:
        hpeer automation run nightly
        hpeer automation run drop --file ~/Downloads/export.zip
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var automation: AutomationArgument
  @Option(help: "The file that it waits for.", completion: .file())
  var file: String?

  func run() async throws {
    let home = common.homeDirectory
    let automation = try automation.automation(home)
    var occasion = AutomationOccasion.asked
    if automation.trigger.kind == .file {
      guard let file else { throw ValidationError("It waits for a file: give one with --file.") }
      occasion = .file(path: URL(fileURLWithPath: file).path)
    } else if file != nil {
      throw ValidationError("--file is only for automations with a file trigger.")
    }
    let context = try await AutomationContext.here(home)
    let result = try await interruptible("it runs again the next time.") { [occasion] in
      try await AutomationRun(automation, context).run(occasion, words: ErrorText.sentence)
    }
    Console.say("\(automation.name): \(PlainText.escaped(result, limit: 500)).")
  }
}

extension AutomationContext {
  /// Returns a context for noninteractive use. Operations that need a person's answer fail.
  static func here(_ home: Home) async throws -> AutomationContext {
    let registry = try await home.openRegistry()
    let identity = try await home.identity()
    let local = LocalPeer(store: try home.createStore(), registry: registry, identity: identity)
    let finder = PeerFinder(registry: registry, ownID: identity.id) { PlainText.escaped($0) }
    return AutomationContext(
      home, local,
      pull: PullOperation(local, finder: finder, persons: PersonCheck(registry), notice: PeerPrompts.tell),
      program: Hpeer.version)
  }
}

struct AutomationPause: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Pause an automation until it is resumed.")

  @OptionGroup var common: CommonOptions
  @OptionGroup var automation: AutomationArgument

  func run() async throws {
    let automation = try automation.automation(common.homeDirectory)
    try await automation.setPaused(true, common.homeDirectory)
    Console.say("\(automation.name) is paused; `hpeer automation resume \(automation.name)` lets it go on.")
  }
}

struct AutomationResume: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "resume", abstract: "Let a paused automation go on.")

  @OptionGroup var common: CommonOptions
  @OptionGroup var automation: AutomationArgument

  func run() async throws {
    let automation = try automation.automation(common.homeDirectory)
    try await automation.setPaused(false, common.homeDirectory)
    Console.say("\(automation.name) goes on; a time that it has missed is made up once.")
  }
}

extension Automation {
  fileprivate func setPaused(_ isPaused: Bool, _ home: Home) async throws {
    try await home.createStore().activities.setPaused(
      isPaused, activity,
      event: AuditEvent(.automationChanged, ["automation": name, "change": isPaused ? "paused" : "resumed"]))
  }
}

struct AutomationHistory: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Print what was done when, of the audit log, oldest first.",
    discussion: """
      Examples:
        hpeer automation history
        hpeer automation history nightly --json
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "Only this one.", completion: .automations)
  var name: String?
  @OptionGroup var output: JSONOption
  @OptionGroup var zone: ZoneOptions

  func run() async throws {
    let home = common.homeDirectory
    let store = try home.openStoreForReading()
    let history = AuditHistory(zone: zone, isJSON: output.json, subject: name == nil ? "automation" : nil)
    let isThere = try await history.print(store) { detail in
      detail["automation"].map { name == nil || $0 == name } ?? false
    }
    guard !isThere else { return }
    // An automation that was removed has a history as well.
    if let name { _ = try AutomationArgument.automation(name, home) }
    if !output.json { Console.say("The audit log has nothing of \(name ?? "automations") yet.") }
  }
}

struct AutomationRemove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove an automation: its section of config.toml, and what is known of its runs.")

  @OptionGroup var common: CommonOptions
  @OptionGroup var automation: AutomationArgument

  func run() async throws {
    let (home, name) = (common.homeDirectory, automation.name)
    // An automation can also be removed if its settings are wrong.
    do { _ = try automation.automation(home) } catch is SettingsFileError {}
    try home.editSettings { try SettingsFile.removing(name, of: .automation, from: $0, path: home.settingsPath) }
    if let store = try? home.openStore() {
      try await store.activities.remove(Automation.activityPrefix + name)
      try await store.audit.record(AuditEvent(.automationChanged, ["automation": name, "change": "removed"]))
    }
    Console.say("\(PlainText.escaped(name)) is removed.")
  }
}
