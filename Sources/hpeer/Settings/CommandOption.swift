import ArgumentParser
import Foundation

/// An option or flag of a command that can be set in config.toml and in the environment.
struct CommandOption {
  /// The name without hyphens: `audit-days`.
  let name: String
  /// Whether the option takes no value.
  let isFlag: Bool
  /// The name of the opposite flag, without hyphens: `no-advertise`.
  private(set) var inverse: String?
  let isRepeating: Bool
  let help: String
  let defaultValue: String?
  /// The name of its value in the help: `port`.
  let valueName: String
  /// All spellings, including short ones, with hyphens.
  private(set) var spellings: [String]

  /// The options that cannot be set: they are given once, would confirm something without a question, or say where
  /// this very file is.
  private static let unsettable: Set = [
    "home", "now", "help", "help-hidden", "version", "yes", "force", "merge-person", "code-stdin", "dry-run", "undo",
    "verify",
    "generate-completion-script", "fingerprint", "qr", "host", "all", "full", "infer-deletions", "snapshot", "rescan",
    "output", "retract", "bundle",
  ]

  /// Returns the options of a command, in the order of its help.
  static func all(of command: any ParsableCommand.Type) throws -> [CommandOption] {
    let help = try JSONDecoder().decode(Help.self, from: Data(command._dumpHelp().utf8))
    var options = (help.command.arguments ?? []).compactMap(CommandOption.init)
    // A flag and its opposite are two arguments in the help.
    for option in options where option.isFlag && option.name.hasPrefix("no-") {
      guard let index = options.firstIndex(where: { "no-" + $0.name == option.name }) else { continue }
      options[index].inverse = option.name
      options[index].spellings += option.spellings
      options.removeAll { $0.name == option.name }
    }
    return options
  }

  private init?(_ argument: Help.Argument) {
    guard argument.kind == "option" || argument.kind == "flag", argument.shouldDisplay ?? true else { return nil }
    let long = (argument.names ?? []).filter { $0.kind == "long" }.map(\.name)
    guard let name = long.first(where: { !$0.hasPrefix("no-") }) ?? long.first, !Self.unsettable.contains(name) else {
      return nil
    }
    self.name = name
    isFlag = argument.kind == "flag"
    inverse = long.first { $0 == "no-" + name }
    isRepeating = argument.isRepeating ?? false
    help = argument.abstract ?? ""
    // The default value of a flag is itself written as a flag.
    defaultValue = argument.defaultValue.map { $0.hasPrefix("--") ? String(!$0.hasPrefix("--no-")) : $0 }
    valueName = argument.valueName ?? name
    spellings = (argument.names ?? []).map { ($0.kind == "long" ? "--" : "-") + $0.name }
  }

  /// The parts of `--experimental-dump-help` that are used.
  private struct Help: Decodable {
    struct Argument: Decodable {
      struct Name: Decodable {
        var kind: String
        var name: String
      }
      var kind: String
      var names: [Name]?
      var abstract: String?
      var valueName: String?
      var defaultValue: String?
      var isRepeating: Bool?
      var shouldDisplay: Bool?
    }
    struct Command: Decodable { var arguments: [Argument]? }
    var command: Command
  }

  /// Returns the variable that sets the option for a command: `HPEER_SERVE_AUDIT_DAYS`.
  func variable(of command: String) -> String {
    "HPEER_\(command)_\(name)".uppercased().replacingOccurrences(of: "-", with: "_")
  }
}
