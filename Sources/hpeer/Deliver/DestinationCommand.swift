import ArgumentParser
import Destinations
import HealthModel
import HealthOperations
import HealthStore
import Terminal

struct DestinationCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "destination",
    abstract: "Manage the destinations that the record is delivered to.",
    discussion: """
      Destinations are in config.toml, which you may edit by hand; each gets what is new, deletions included, with \
      `hpeer sync`.

      Examples:
        hpeer destination kinds
        hpeer destination add folder backup
        hpeer destination add folder --set path=~/Sync --set types=stepCount
        hpeer destination list
        hpeer destination status backup
        hpeer destination pause backup
        hpeer destination remove backup
      """,
    subcommands: [
      DestinationList.self, DestinationAdd.self, DestinationKindsCommand.self, DestinationTest.self,
      DestinationStatus.self, DestinationPause.self, DestinationResume.self, DestinationResync.self,
      DestinationHistory.self, DestinationRejected.self, DestinationRetry.self, DestinationRemove.self,
    ],
    defaultSubcommand: DestinationList.self)
}

struct DestinationList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List destinations.")

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @OptionGroup var zone: ZoneOptions

  func run() async throws {
    let home = common.homeDirectory
    let reports = try await DestinationReport.all(
      try SettingsNotice.readable(home), try home.openStoreForReadingIfThere())
    if output.json { return try Console.print(json: ["destinations": reports]) }
    guard !reports.isEmpty else {
      return Console.say(
        "No destination yet. Add one with `hpeer destination add KIND`; `hpeer destination kinds` lists the kinds.")
    }
    var table = Table(columns: [
      .init("NAME"), .init("KIND"), .init("STATE"), .init("LAST DELIVERY", isWhole: true), .init("WHAT COMES TWICE"),
    ])
    for report in reports {
      table.append([
        .init(report.name), .init(report.kind), .init(report.state.rawValue),
        .init(report.lastSuccess.map(zone.seconds) ?? "never"), .init(Self.text(report.repetition)),
      ])
    }
    try Console.print(table)
  }

  /// Returns the text for the effect of a repeated delivery.
  static func text(_ repetition: String?) -> String {
    switch repetition.flatMap(DestinationDescription.Repetition.init) {
    case .idempotent: "stored once"
    case .byKey: "is told by its key"
    case .atLeastOnce: "may be stored twice"
    case nil: "-"
    }
  }
}

struct DestinationKindsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kinds", abstract: "List the kinds of destinations, or the settings of one.",
    discussion: """
      Examples:
        hpeer destination kinds
        hpeer destination kinds folder
      """)

  @Argument(help: "A kind, whose settings are printed.", completion: .destinationKinds)
  var kind: String?
  @OptionGroup var output: JSONOption

  struct Setting: Encodable {
    var key: String
    var takes: String
    var help: String
    var required: Bool
    var `default`: String?

    init(_ field: SettingField) {
      (key, takes, help) = (field.key, field.kind.name, field.help)
      (required, `default`) = (field.isRequired, field.defaultValue)
    }
  }

  private struct Kind: Encodable {
    var kind: String
    var summary: String
    var repetition: String
    var settings: [Setting]
  }

  func run() async throws {
    let kinds = try kind.map { [try DestinationAdd.kind($0)] } ?? DestinationKinds.all
    if output.json { return try Console.print(json: ["kinds": kinds.map(Self.object)]) }
    var table: Table
    if kind == nil {
      table = Table(columns: [.init("KIND"), .init("WHAT IT DOES", isWhole: true), .init("WHAT COMES TWICE")])
      for kind in kinds.map({ $0.description }) {
        table.append([
          .init(kind.kind.rawValue), .init(kind.summary), .init(DestinationList.text(kind.repetition.rawValue)),
        ])
      }
    } else {
      table = Table(columns: [
        .init("SETTING"), .init("TAKES", isWhole: true), .init("DEFAULT"), .init("WHAT IT IS", isWhole: true),
      ])
      for field in kinds.flatMap({ $0.description.fields + CommonSettings.fields(of: $0.description) }) {
        table.append([
          .init(field.key), .init(field.kind.name), .init(field.isRequired ? "(needed)" : field.defaultValue ?? ""),
          .init(field.help),
        ])
      }
    }
    try Console.print(table)
  }

  private static func object(_ kind: any Destination.Type) -> Kind {
    let description = kind.description
    return Kind(
      kind: description.kind.rawValue, summary: description.summary, repetition: description.repetition.rawValue,
      settings: (description.fields + CommonSettings.fields(of: description)).map(Setting.init))
  }
}

/// The argument that names the destination of a command.
struct DestinationArgument: ParsableArguments {
  @Argument(help: "The destination's name, as `hpeer destination list` has it.", completion: .destinations)
  var name: String

  func section(_ home: Home) throws -> DestinationSection { try Self.section(name, home) }

  static func section(_ name: String, _ home: Home) throws -> DestinationSection {
    let file = try home.readableSettings()
    if let mistake = file.mistake(inDestination: name) { throw mistake }
    if let section = file.destination(name) { return section }
    let similar = SimilarNames.suggestions(for: name, among: file.destinations.map(\.name))
    throw ValidationError(
      "There is no destination called \(PlainText.escaped(name, limit: 80))"
        + (similar.isEmpty
          ? ": `hpeer destination list` has them." : "; did you mean \(similar.joined(separator: " or "))?"))
  }
}
