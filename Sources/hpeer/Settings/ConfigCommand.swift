import ArgumentParser
import Destinations
import Foundation
import HealthModel
import HealthOperations
import OperatingSystem
import Terminal

struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Manage the settings file, config.toml: options of commands, destinations, automations.",
    discussion: """
      The command line takes precedence, then the environment (HPEER_SERVE_PORT for --port of serve), then the command's \
      table in the file ([serve] port = 8737), then the built-in default. `hpeer run` reads [run] and [serve].

      Examples:
        hpeer config init
        hpeer config show serve
        hpeer config check
        $EDITOR "$(hpeer config path)"
      """,
    subcommands: [ConfigShow.self, ConfigInit.self, ConfigCheck.self, ConfigPath.self],
    defaultSubcommand: ConfigShow.self)
}

struct ConfigPath: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "path", abstract: "Print where the settings file is.")

  @OptionGroup var common: CommonOptions

  func run() async throws { try Console.print(common.homeDirectory.settingsPath) }
}

struct ConfigInit: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Write a settings file with every setting explained and commented out.",
    discussion: """
      An existing file is not changed. Use --print to see the template and copy parts of it.

      Examples:
        hpeer config init
        hpeer config init --print | less
      """)

  @OptionGroup var common: CommonOptions
  @Flag(help: "Print it on standard output instead.")
  var print = false

  func run() async throws {
    let home = common.homeDirectory
    let text = try SettingsTemplate.text()
    if print { return try Console.print(text.trimmingSuffix("\n")) }
    guard !PrivateFile.exists(home.settingsPath) else {
      throw CommandFailure(
        .usage, "\(home.settingsPath) is there already, and stays as it is: --print prints what would be in a new one.")
    }
    try home.editSettings { before in
      // Another process may have written a file meanwhile.
      before.isEmpty ? text : before
    }
    Console.say(
      "\(PlainText.escaped(home.settingsPath, limit: 4_096)) was written. Every setting in it is commented out.")
  }
}

struct ConfigCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check the settings file. Exits with 2 if it has mistakes.")

  @OptionGroup var common: CommonOptions

  func run() async throws {
    let home = common.homeDirectory
    guard PrivateFile.exists(home.settingsPath) else {
      return Console.say(
        "There is no \(PlainText.escaped(home.settingsPath, limit: 4_096)): everything is as it is built in.")
    }
    let file = try home.settings()
    let automations = try Automation.all(in: file)
    for table in file.commands { _ = try CommandSettings.checked(table, in: file) }
    Console.say(
      "\(PlainText.escaped(home.settingsPath, limit: 4_096)) is valid: \(HumanFormat.count(file.destinations.count, "destination")), "
        + "\(HumanFormat.count(automations.count, "automation")), options of \(HumanFormat.count(file.commands.count, "command"))."
    )
  }
}

struct ConfigShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Print what is set for commands, and where.",
    discussion: """
      Without a command: everything that the file and the environment set. With a command: all of its options.

      Examples:
        hpeer config show
        hpeer config show serve
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "A command.")
  var command: String?
  @OptionGroup var output: JSONOption

  private struct Line: Encodable {
    var command: String
    var option: String
    var value: String?
    /// The origin: `environment`, `file` or `default`.
    var origin: String
    /// The name of the variable, or the table of the file.
    var place: String?
  }

  func run() async throws {
    let home = common.homeDirectory
    if let command, !SettingsCommands.names.contains(command) {
      let similar = SimilarNames.suggestions(for: command, among: SettingsCommands.names)
      throw ValidationError(
        "Nothing can be set for \(PlainText.escaped(command))"
          + (similar.isEmpty ? "." : "; did you mean \(similar.joined(separator: " or "))?"))
    }
    let file = try home.settings()
    var lines: [Line] = []
    for name in SettingsCommands.names where command == nil || name == command {
      lines += try self.lines(name, file)
    }
    if output.json { return try Console.print(json: ["settings": lines]) }
    guard !lines.isEmpty else {
      return Console.say(
        "Nothing is set for commands: `hpeer config init` begins a file, \(PlainText.escaped(file.path)).")
    }
    var table = Table(columns: [.init("COMMAND"), .init("OPTION"), .init("VALUE"), .init("FROM")])
    for line in lines {
      table.append([
        .init(line.command), .init(line.option), .init(line.value ?? "-"), .init(line.place ?? line.origin),
      ])
    }
    try Console.print(table)
  }

  private func lines(_ name: String, _ file: SettingsFile) throws -> [Line] {
    guard let type = Hpeer.configuration.subcommands.first(where: { $0._commandName == name }) else { return [] }
    let set = try CommandSettings.all(for: name, type, file, ProcessInfo.processInfo.environment)
    if command == nil { return set.map { Self.line(name, $0) } }
    return try CommandOption.all(of: type).map { option in
      if let setting = set.first(where: { $0.option.name == option.name }) { return Self.line(name, setting) }
      return Line(command: name, option: option.name, value: option.defaultValue, origin: "default")
    }
  }

  private static func line(_ name: String, _ setting: CommandSettings.Setting) -> Line {
    let value = SettingsTemplate.text(setting.value)
    switch setting.origin {
    case .environment(let variable):
      return Line(command: name, option: setting.option.name, value: value, origin: "environment", place: variable)
    case .file(let table):
      return Line(command: name, option: setting.option.name, value: value, origin: "file", place: "[\(table)]")
    }
  }
}
