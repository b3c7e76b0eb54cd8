import ArgumentParser
import HealthOperations
import HealthStore
import Terminal

/// Options that every command has.
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

/// For commands whose table can be printed as one JSON object or as CSV.
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

/// For commands that can print one JSON object instead of text for people.
struct JSONOption: ParsableArguments {
  @Flag(help: "Print one JSON object on standard output instead of text.")
  var json = false
}
