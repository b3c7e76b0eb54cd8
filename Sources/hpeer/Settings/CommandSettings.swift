import ArgumentParser
import Destinations
import Foundation
import HealthOperations
import Terminal

/// The options that are set for a command in the environment, or else in the command's table of config.toml. The
/// command line comes first.
struct CommandSettings {
  /// The origin of a value.
  enum Origin: Hashable {
    /// The name of the variable.
    case environment(String)
    /// The table of config.toml.
    case file(table: String)
  }

  struct Setting {
    var option: CommandOption
    var value: DestinationSettings.Value
    var origin: Origin
  }

  /// Returns the tables that a command reads: its own, and for `run` also that of `serve`.
  static func tables(of command: String) -> [String] { command == "run" ? ["run", "serve"] : [command] }

  /// Returns the words of a command line, with the settings inserted before them.
  static func arranged(_ words: CommandWords) throws -> [String] {
    guard words.path.count == 1, let name = words.path.first, SettingsCommands.names.contains(name),
      !words.rest.contains(where: { ["-h", "--help"].contains($0) })
    else { return words.arranged }
    let home = Home(path: value(of: "--home", in: words.rest))
    let environment = ProcessInfo.processInfo.environment
    let prefixes = tables(of: name).map { "HPEER_\($0.uppercased())_" }
    let hasVariables = environment.keys.contains { key in prefixes.contains(where: key.hasPrefix) }
    guard hasVariables || FileManager.default.fileExists(atPath: home.settingsPath) else { return words.arranged }
    let file = try home.readableSettings()
    // A mistake in this command's own table is an error.
    if let mistake = file.mistakes.first(where: { mistake in
      tables(of: name).contains(where: mistake.isIn)
    }) {
      throw mistake
    }
    // A table of an unknown command may have been meant for this one.
    for mistake in file.mistakes where mistake.key?.contains(".") == false { Console.warn("left out: \(mistake)") }
    guard hasVariables || file.commands.contains(where: { tables(of: name).contains($0.command) }) else {
      return words.arranged
    }
    var given = Set(words.rest.prefix { $0 != "--" }.map { String($0.prefix { $0 != "=" }) })
    for group in Self.alternatives where !group.isDisjoint(with: given) { given.formUnion(group) }
    let settings = try all(for: name, words.command, file, environment)
    return words.path
      + settings.filter { given.isDisjoint(with: $0.option.spellings) }.flatMap(Self.words) + words.rest
  }

  /// Options that exclude each other: one on the command line counts before a setting of another.
  private static let alternatives: [Set<String>] = [
    ["--zone", "--utc"], ["--json", "--csv"], ["--on", "--from", "--since"], ["--on", "--to", "--until"],
  ]

  /// Returns the settings of a command.
  ///
  /// - Throws: `SettingsFileError` if an option does not exist, or a `ValidationError` about a variable.
  static func all(
    for name: String, _ command: any ParsableCommand.Type, _ file: SettingsFile, _ environment: [String: String]
  ) throws -> [Setting] {
    let options = try CommandOption.all(of: command)
    let tables = try tables(of: name).compactMap { table in
      try file.commands.first { $0.command == table }.map { (table: $0, values: try checked($0, in: file)) }
    }
    return try options.compactMap { option in
      for table in Self.tables(of: name) {
        let variable = option.variable(of: table)
        guard let text = environment[variable], !text.isEmpty else { continue }
        return Setting(option: option, value: try value(text, of: option, variable), origin: .environment(variable))
      }
      for (table, values) in tables {
        if let value = values[option.name] {
          return Setting(option: option, value: value, origin: .file(table: table.command))
        }
      }
      return nil
    }
  }

  /// Returns the values of a table. Each must be an option of its command and hold what that takes.
  static func checked(_ table: CommandTable, in file: SettingsFile) throws -> [String: DestinationSettings.Value] {
    guard let command = Hpeer.configuration.subcommands.first(where: { $0._commandName == table.command }) else {
      return [:]
    }
    let options = try CommandOption.all(of: command)
    for key in table.values.keys.sorted() {
      guard let option = options.first(where: { $0.name == key }) else {
        throw file.error(SettingsError(key, .unknown(known: options.map(\.name))), in: table)
      }
      do {
        _ = try ListeningPort.port(table.values[key], of: key)
      } catch {
        throw file.error(error, in: table)
      }
      switch (option.isFlag, table.values[key]) {
      case (true, .boolean), (false, .text), (false, .integer), (false, .number), (false, .list): continue
      case (true, _): throw file.error(SettingsError(key, .invalid("must be true or false")), in: table)
      case (false, _): throw file.error(SettingsError(key, .invalid("must be a text or a number")), in: table)
      }
    }
    return table.values
  }

  private static func value(
    _ text: String, of option: CommandOption, _ variable: String
  ) throws -> DestinationSettings.Value {
    guard option.isFlag else { return .text(text) }
    switch text.lowercased() {
    case "1", "true", "yes": return .boolean(true)
    case "0", "false", "no": return .boolean(false)
    default: throw ValidationError("\(variable) takes 1 or 0.")
    }
  }

  private static func words(_ setting: Setting) -> [String] {
    let option = setting.option
    switch setting.value {
    case .boolean(true): return ["--\(option.name)"]
    case .boolean(false): return option.inverse.map { ["--\($0)"] } ?? []
    case .text(let text): return ["--\(option.name)=\(text)"]
    case .integer(let number): return ["--\(option.name)=\(number)"]
    case .number(let number): return ["--\(option.name)=\(number)"]
    case .list(let texts):
      return option.isRepeating
        ? texts.map { "--\(option.name)=\($0)" } : ["--\(option.name)=\(texts.joined(separator: ","))"]
    case .table: return []
    }
  }

  private static func value(of option: String, in words: [String]) -> String? {
    var value: String?
    for (index, word) in words.enumerated() {
      if word == "--" { break }
      if word == option, index + 1 < words.count { value = words[index + 1] }
      if word.hasPrefix(option + "=") { value = String(word.dropFirst(option.count + 1)) }
    }
    return value
  }
}

/// The settings for a command that does the rest if a destination or a table has a mistake.
enum SettingsNotice {
  /// Returns the settings, and warns about what was left out, with its line. Throws `SettingsFileError` if nothing
  /// can be read.
  static func readable(_ home: Home) throws -> SettingsFile {
    let file = try home.readableSettings()
    for mistake in mistakes(of: file) { Console.warn("left out: \(mistake)") }
    return file
  }

  /// Returns the mistakes in a file, including those in automations.
  static func mistakes(of file: SettingsFile) -> [SettingsFileError] {
    file.mistakes + Automation.readable(in: file).mistakes
  }
}
