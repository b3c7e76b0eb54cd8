import ArgumentParser
import HealthModel
import Terminal

/// A command with others below it, of which one is run without being named and takes words: a file of the name of another
/// is `./NAME`.
protocol TakesWordsOfItsOwn: ParsableCommand {}

/// A command line before the parser has it, which takes options after the command only, and says of an unknown command
/// no more than that it is unexpected.
struct CommandWords {
  typealias Command = any ParsableCommand.Type

  /// The names of commands that lead to ``command``.
  let path: [String]
  /// What the words are for; the root where they name none.
  let command: Command
  /// What follows the commands.
  let rest: [String]

  /// What the parser shall read.
  var arranged: [String] { path + rest }

  /// - Throws: a usage error where a command is unknown, or an option stands where it means nothing.
  init(_ words: [String], for root: any ParsableCommand.Type) throws {
    var words = words[...]
    let home = try Self.takeHome(from: &words)
    if words.first == "help" {
      // `help` itself is no command to the parser: what there is to say of it is what `hpeer help` says.
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

  /// The words of a command as its parser reads them, which people say otherwise.
  private static func spoken(_ words: [String], of command: String) -> [String] {
    SpokenTypes.arranged(SpokenTime.arranged(words, of: command), of: command)
  }

  /// `--home`, which belongs to every command, and its value.
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

  /// The names of commands at the beginning of `words`, and what follows them.
  private static func takeCommands(
    from words: ArraySlice<String>, below root: Command, isHelp: Bool
  ) throws -> (path: [String], command: Command, rest: ArraySlice<String>) {
    var (command, path, rest) = (root, [String](), words)
    while let word = rest.first, !word.hasPrefix("-") {
      let subcommands = command.configuration.subcommands
      guard let next = subcommands.first(where: { $0._commandName == word }) else {
        // What follows a command that has none below it is its own, and of some that have.
        if subcommands.isEmpty || command is any TakesWordsOfItsOwn.Type, !isHelp { break }
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
    var similar = path.isEmpty ? CommandMeaning.commands(for: word).map { "`hpeer \($0)`" } : []
    // Nobody is led to what closes or deletes.
    if similar.isEmpty {
      similar = SimilarNames.suggestions(for: word, among: names.filter { !CommandMeaning.drastic.contains($0) })
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

  /// Says where an option belongs that stands before the command.
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

/// What people may mean by words that are no commands.
enum CommandMeaning {
  /// Commands that close or delete something: nobody is led to them by a word that is something else.
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

  /// Commands without `hpeer`, the likeliest first; none where the word says nothing.
  static func commands(for word: String) -> [String] {
    let word = word.lowercased()
    if let commands = meanings[word] { return commands }
    // A type alone is asked for its numbers.
    guard let type = TypeWords.types(word, held: []).first else { return [] }
    let name = type.shortName
    return SampleTypeCatalogue.healthKit[type]?.aggregation == nil
      ? ["show \(name)"] : ["stats \(name)", "latest \(name)"]
  }
}
