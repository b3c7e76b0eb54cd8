import ArgumentParser
import Terminal

/// `--all`, of commands that print a screenful where somebody looks at it, and everything where a program reads it.
struct ScreenOption: ParsableArguments {
  @Flag(help: "On a terminal print everything, oldest first, instead of the newest that fit on a screen.")
  var all = false

  /// Lines that a table has beside its rows, and those of the prompt.
  private static let others = 8
  private static let fewest = 10

  /// On a terminal the last rows, the newest first; else all.
  ///
  /// - Parameter rows: the oldest first.
  func shown<Row>(of rows: [Row]) -> [Row] {
    guard !all, Console.capabilities.isTerminal(.output) else { return rows }
    return rows.suffix(max(Self.fewest, Console.capabilities.size.rows - Self.others)).reversed()
  }

  /// Says how many rows there are beside those that were shown.
  ///
  /// - Parameter noun: of a row, such as `night`.
  func sayRest(of count: Int, shown: Int, _ noun: String) {
    let rest = count - shown
    if rest > 0 { Console.say("… \(HumanFormat.count(rest, "earlier \(noun)")); --all prints them, oldest first.") }
  }
}
