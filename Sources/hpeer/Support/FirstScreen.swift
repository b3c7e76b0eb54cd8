import ArgumentParser
import Foundation
import HealthOperations
import HealthStore
import OperatingSystem
import PeerServer
import PeerTrust
import Terminal

/// The output of `hpeer` without a command: the state of the record and the next steps, or how to begin; and the
/// short help.
enum FirstScreen {
  /// Prints the first screen or the short help if the words ask for it.
  ///
  /// - Returns: Whether something was printed; false if the words are a command.
  static func answers(_ words: [String]) async throws -> Bool {
    var (rest, home) = (words[...], [String]())
    if rest.first == "--home", rest.count > 1 {
      home = Array(rest.prefix(2))
      rest = rest.dropFirst(2)
    } else if let word = rest.first, word.hasPrefix("--home=") {
      home = [word]
      rest = rest.dropFirst()
    }
    switch Array(rest) {
    case []: try await overview(home)
    case ["help"], ["help", "help"], ["-h"]: try Console.print(shortHelp)
    case ["help", "all"]: try Console.print(Hpeer.helpMessage(includeHidden: false))
    default:
      guard rest.last == "-h", let help = try shortHelp(for: rest.dropLast()) else { return false }
      try Console.print(help)
    }
    return true
  }

  /// Returns the short help of a command, without the explanations that `--help` has; `nil` if there are other words
  /// than a command.
  private static func shortHelp(for words: ArraySlice<String>) throws -> String? {
    guard words.allSatisfy({ !$0.hasPrefix("-") }) else { return nil }
    let found = try CommandWords(Array(words), for: Hpeer.self)
    guard found.rest.isEmpty, found.path == Array(words) else { return nil }
    let help = Hpeer.helpMessage(for: found.command)
    guard let end = help.range(of: "\n\n"), let usage = help.range(of: "\nUSAGE: ") else { return help }
    return help[..<end.lowerBound] + "\n" + help[usage.lowerBound...]
      + "\n`\((["hpeer"] + words).joined(separator: " ")) --help` says more, with examples."
  }

  // MARK: The record

  private static func overview(_ words: [String]) async throws {
    let home = try CommonOptions.parse(words).homeDirectory
    guard let store = try home.openStoreForReadingIfThere(),
      try await store.samples.typeCounts().contains(where: { $0.samples > 0 })
    else { return try Console.print(beginning) }
    // The settings of `summary` apply here, too.
    let arranged = try CommandSettings.arranged(try CommandWords(words + ["summary"], for: Hpeer.self))
    if var summary = try Hpeer.parseAsRoot(arranged) as? any AsyncParsableCommand { try await summary.run() }
    try Console.print("")
    var served: ServerState?
    do {
      served = try await ControlClient.state(at: home.socketPath)
    } catch is ControlClient.NoServer {}
    let endings = (try? await home.endings()) ?? []
    let report = try await StatusReport(home, store, served: served, endings: endings)
    let zone = try HomeZone(try await store.settings.current()).timeZone
    try StatusPresentation(report: report, served: served, zone: zone, endings: endings).print()
    let steps = try await steps(report, home, store)
    if steps.isEmpty { return }
    try Console.print("")
    try Console.print("Next:")
    for (command, what) in steps.prefix(mostSteps) { try Console.print("  \(padded(command)) \(what)") }
  }

  private static let mostSteps = 3

  /// Returns the possible next steps, the most useful first.
  private static func steps(
    _ report: StatusReport, _ home: Home, _ store: HealthStore
  ) async throws -> [(command: String, what: String)] {
    var steps: [(String, String)] = []
    if report.isFailing { steps.append(("hpeer doctor", "says what fails, and what to do about it")) }
    if try await store.settings.current().homeZone == nil {
      steps.append(("hpeer zone Europe/Berlin", "sets your home zone; now it is this machine's zone"))
    }
    if report.readers == 0, report.peers.isEmpty {
      steps.append(("hpeer serve", "shares the record with another machine of yours"))
    } else if let peer = report.peers.first {
      steps.append(("hpeer pull \(ShellWord.quoted(PlainText.escaped(peer.name)))", "brings what is new there"))
    }
    if report.destinations.isEmpty {
      steps.append(("hpeer destination add", "sends it to Home Assistant, a calendar, a bucket, a folder"))
    } else {
      steps.append(("hpeer sync", "delivers what is new"))
    }
    steps.append(("hpeer backup FILE", "keeps everything in one encrypted file"))
    steps.append(("hpeer chart steps", "draws it; `hpeer help` lists the rest"))
    return steps
  }

  private static func padded(_ text: String) -> String {
    text.padding(toLength: max(text.count, 30), withPad: " ", startingAt: 0)
  }

  private static let beginning = """
    No health record yet. There are two ways to start:

      hpeer import export.zip        reads what an iPhone exports: Health app, your picture,
                                     Export All Health Data; then copy the file to this machine
      hpeer pull NAME                brings the record of another machine, on which
                                     `hpeer serve` runs; `hpeer discover` finds it

    `hpeer discover` also finds iPhone apps on this network. To let an app send on its own:
      hpeer inbox add phone

    `hpeer help` lists the most important commands, `hpeer help all` every one.
    """

  static let shortHelp = """
    Moves your health record between machines you own, with no cloud in between.

    The record
      import FILE       read an Apple Health export, or another file of samples
      summary           today, last night and this week on one screen
      stats TYPE        sums, means and extremes: hpeer stats steps this month
      chart TYPE        the same, drawn
      sleep, workouts   nights, workouts
      export            write the record to a file: CSV, JSON, SQLite, FHIR

    Between machines
      serve             share the record; shows a pairing code
      pull NAME         bring what is new from another machine
      status            how everything goes
      audit             who read what, and when

    Elsewhere
      destination add   send it to Home Assistant, a calendar, a bucket, a folder
      backup FILE       keep everything in one encrypted file
      doctor            find out why something does not work

    hpeer help COMMAND   what a command does, with examples
    hpeer help all       every command, and the exit codes
    """
}
