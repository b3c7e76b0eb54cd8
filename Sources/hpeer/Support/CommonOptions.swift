import ArgumentParser
import HealthOperations
import HealthStore
import Terminal

/// The options that every command has.
struct CommonOptions: ParsableArguments {
  @Option(help: "Keep everything in this directory instead of the XDG ones (also: HPEER_HOME).", completion: .directory)
  var home: String?

  func validate() throws {
    // An empty variable in a script must not lead to another record.
    if home?.isEmpty == true { throw ValidationError("--home takes a directory.") }
  }

  var homeDirectory: Home { Home(path: home, whileLocked: Self.sayLocked) }

  @Sendable private static func sayLocked(_ holder: String?) {
    let holder = PlainText.escaped(holder ?? "another process")
    Console.say("Waiting for \(holder), which is writing to this store, for up to \(Int(HealthStore.busyTimeout)) s.")
  }
}

/// The options of commands whose table can be printed as one JSON object or as CSV.
struct TableOutput: ParsableArguments {
  @Flag(help: "Print one JSON object on standard output instead of text.")
  var json = false
  @Flag(help: "Print one table as CSV (RFC 4180), nothing rounded.")
  var csv = false
  @OptionGroup var spreadsheet: SpreadsheetOption

  func validate() throws {
    if json, csv { throw ValidationError("Give --json or --csv, not both.") }
    if spreadsheet.locale != nil, !csv { throw ValidationError("--locale goes with --csv.") }
  }
}

/// The option of commands that can print one JSON object instead of text for people.
struct JSONOption: ParsableArguments {
  @Flag(help: "Print one JSON object on standard output instead of text.")
  var json = false
}

/// The option `--yes` of a command that asks before it changes what others rely on.
struct YesOption: ParsableArguments {
  @Flag(help: "Do it without asking.")
  var yes = false

  /// Asks unless `--yes` was given, and returns whether to proceed.
  ///
  /// - Throws: A `CommandFailure` that names `--yes` if there is no terminal to ask on.
  func confirm(_ question: String) async throws -> Bool {
    if yes { return true }
    do {
      return try await Prompt.confirm(question)
    } catch PromptError.noTerminal {
      throw CommandFailure(
        .usage, "\(question) There is no terminal to ask on, so nothing was done. Use --yes to answer in advance.")
    }
  }
}

/// The option `--all` of commands that print a screenful on a terminal, and everything for a program.
struct ScreenOption: ParsableArguments {
  @Flag(help: "On a terminal print everything, oldest first, instead of the newest that fit on a screen.")
  var all = false

  /// The number of lines beside the rows: those of the table, and those of the prompt.
  private static let others = 8
  private static let fewest = 10

  /// Returns the last rows, the newest first, on a terminal; else all.
  ///
  /// - Parameter rows: The rows, the oldest first.
  func shown<Row>(of rows: [Row]) -> [Row] {
    guard !all, Console.capabilities.isTerminal(.output) else { return rows }
    return rows.suffix(max(Self.fewest, Console.capabilities.size.rows - Self.others)).reversed()
  }

  /// Says how many rows were not shown.
  ///
  /// - Parameter noun: The noun for a row, such as `night`.
  func sayRest(of count: Int, shown: Int, _ noun: String) {
    let rest = count - shown
    if rest > 0 { Console.say("… \(HumanFormat.count(rest, "earlier \(noun)")); --all prints them, oldest first.") }
  }
}
