import ArgumentParser
import HealthModel
import Terminal

/// A command with subcommands whose default subcommand takes arguments. A file that is named like another subcommand
/// is given as `./NAME`.
protocol DefaultSubcommandTakesArguments: ParsableCommand {}

/// A command line before it is parsed. The parser takes options after the command only, and says of an unknown
/// command only that it is unexpected.
struct CommandWords {
  typealias Command = any ParsableCommand.Type

  /// The names of commands that lead to ``command``.
  let path: [String]
  /// The command that the words name; the root if they name none.
  let command: Command
  /// The words after the command.
  let rest: [String]

  /// The words for the parser.
  var arranged: [String] { path + rest }

  /// Splits the words of a command line.
  ///
  /// - Throws: A usage error if a command is unknown or an option is in the wrong place.
  init(_ words: [String], for root: any ParsableCommand.Type) throws {
    var words = words[...]
    let home = try Self.takeHome(from: &words)
    if words.first == "help" {
      // The parser has no command `help`, so `hpeer help help` says the same as `hpeer help`.
      if words.dropFirst().first == "help" { words = words.dropFirst() }
      _ = try Self.takeCommands(from: words.dropFirst(), below: root, isHelp: true)
      (path, command, rest) = ([], root, Array(words))
      return
    }
    try Self.requireOwnOption(words, of: root)
    let taken = try Self.takeCommands(from: words, below: root, isHelp: false)
    (path, command) = (taken.path, taken.command)
    rest =
      path.isEmpty ? Array(taken.rest) : home + Self.spoken(Array(taken.rest), of: path.joined(separator: " "))
  }

  /// Returns the words as the parser of a command reads them. People may write times and types in several words.
  private static func spoken(_ words: [String], of command: String) -> [String] {
    SpokenTypes.arranged(SpokenTime.arranged(words, of: command), of: command)
  }

  /// Removes `--home`, which belongs to every command, and its value from the words, and returns both.
  private static func takeHome(from words: inout ArraySlice<String>) throws -> [String] {
    var home: [String] = []
    while let word = words.first, word == "--home" || word.hasPrefix("--home=") {
      let taken = words.prefix(word == "--home" ? 2 : 1)
      if taken.last == "--home" {
        throw CommandFailure(.usage, "--home takes a folder, and a command after it: `hpeer --home DIR types`.")
      }
      home += taken
      words = words.dropFirst(taken.count)
    }
    return home
  }

  /// Returns the names of commands at the beginning of `words`, and the words after them.
  private static func takeCommands(
    from words: ArraySlice<String>, below root: Command, isHelp: Bool
  ) throws -> (path: [String], command: Command, rest: ArraySlice<String>) {
    var (command, path, rest) = (root, [String](), words)
    while let word = rest.first, !word.hasPrefix("-") {
      let subcommands = command.configuration.subcommands
      guard let next = subcommands.first(where: { $0._commandName == word }) else {
        // A command without subcommands takes arguments, and so do some with subcommands.
        if subcommands.isEmpty || command is any DefaultSubcommandTakesArguments.Type, !isHelp { break }
        // `hpeer audit yesterday`
        if !isHelp, SpokenTime.arranged(Array(rest), of: path.joined(separator: " ")) != Array(rest) { break }
        throw unknown(word, after: path, of: subcommands, below: root)
      }
      command = next
      path.append(word)
      rest = rest.dropFirst()
    }
    return (path, command, rest)
  }

  private static func unknown(
    _ word: String, after path: [String], of subcommands: [Command], below root: Command
  ) -> CommandFailure {
    let names = subcommands.map { $0._commandName }
    let command = (["hpeer"] + path).joined(separator: " ")
    var similar = path.isEmpty ? CommandSynonyms.commands(for: word).map { "`hpeer \($0)`" } : []
    // Commands that close or delete something are never suggested.
    if similar.isEmpty {
      similar = SimilarNames.suggestions(for: word, among: names.filter { !CommandSynonyms.drastic.contains($0) })
        .map { "`\(command) \($0)`" }
    }
    // `hpeer destination sync` for `hpeer sync`.
    if root.configuration.subcommands.contains(where: { $0._commandName == word }) {
      similar.insert("`hpeer \(word)`", at: 0)
    }
    return CommandFailure(
      .usage,
      "There is no command `\(command) \(PlainText.escaped(word))`"
        + (similar.isEmpty ? ": " : "; did you mean \(similar.joined(separator: " or "))? ")
        + "`\((["hpeer help"] + path).joined(separator: " "))` lists the commands.")
  }

  /// Throws if an option stands before the command, and says where it belongs.
  private static func requireOwnOption(_ words: ArraySlice<String>, of root: Command) throws {
    guard let option = words.first, option.hasPrefix("-"), !option.hasPrefix("---"),
      !["-h", "--help", "--help-hidden", "--version"].contains(option),
      let command = words.first(where: { word in root.configuration.subcommands.contains { $0._commandName == word } })
    else { return }
    throw CommandFailure(
      .usage,
      "Put options after the command: `hpeer \(command) \(PlainText.escaped(option))`. Only --home may come before it."
    )
  }
}

/// The commands that people may mean by other words.
enum CommandSynonyms {
  /// The commands that close or delete something, which are never suggested for other words.
  static let drastic: Set = ["delete", "lock", "remove", "restore", "revoke", "undelete", "unpair"]

  private static let meanings: [String: [String]] = [
    "share": ["serve"], "start": ["serve", "run"], "listen": ["serve"], "advertise": ["serve"],
    "send": ["serve", "destination add"], "push": ["destination add"], "upload": ["destination add"],
    "stop": ["service", "status"], "log": ["audit"], "logs": ["audit"], "history": ["audit"], "who": ["audit"],
    "access": ["audit"], "update": ["pull"], "fetch": ["pull"], "download": ["pull"], "receive": ["pull"],
    "refresh": ["pull", "sync"], "today": ["summary"], "day": ["summary"], "overview": ["summary"],
    "gui": ["report", "chart"], "ui": ["report", "chart"], "web": ["report"], "window": ["report"],
    "graph": ["chart"], "plot": ["chart"], "list": ["types"], "ls": ["types"], "find": ["discover"],
    "scan": ["discover"], "search": ["discover"], "devices": ["peers", "discover"], "machines": ["peers"],
    "clients": ["peers"], "check": ["doctor"], "diagnose": ["doctor"], "debug": ["doctor"], "compare": ["verify"],
    "settings": ["config"], "configure": ["config"], "setup": ["config init"], "load": ["import"], "read": ["import"],
    "add": ["import"], "save": ["export", "backup"], "dump": ["export"], "csv": ["export"], "pdf": ["report"],
    "print": ["report", "show"], "doc": ["report"], "doctors": ["report"], "night": ["sleep"], "nights": ["sleep"],
    "ecg": ["show ecg"], "schedule": ["automation"], "cron": ["automation"], "timezone": ["zone"], "tz": ["zone"],
    "unit": ["units"], "version": ["--version"], "unshare": ["revoke NAME", "lock"], "block": ["peers"],
    "daemon": ["service"],
    "install": ["service install"], "grafana": ["export --format sqlite"], "undo": ["import --undo"],
  ]

  /// Returns commands without `hpeer`, the likeliest first; none if the word gives no hint.
  static func commands(for word: String) -> [String] {
    let word = word.lowercased()
    if let commands = meanings[word] { return commands }
    // A type without a command asks for its numbers.
    guard let type = TypeWords.types(word, held: []).first else { return [] }
    let name = type.shortName
    return SampleTypeCatalogue.healthKit[type]?.aggregation == nil
      ? ["show \(name)"] : ["stats \(name)", "latest \(name)"]
  }
}
