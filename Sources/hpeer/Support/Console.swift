import Foundation
import OperatingSystem
import Terminal

/// The output of commands. Data goes to standard output, and messages to the person go to standard error.
enum Console {
  static let capabilities = TerminalCapabilities.current()
  static let style = Style(for: .error, of: capabilities)
  static let outputStyle = Style(for: .output, of: capabilities)

  /// Whether a person can read messages and answer.
  static var isInteractive: Bool { capabilities.isTerminal(.input) && capabilities.isTerminal(.error) }

  /// Whether messages go to the journal.
  static let isJournal = JournalStream.leads(from: .error)

  /// The journal that standard error leads to, which takes fields as well as lines.
  private static let journal = isJournal ? SystemJournal(behind: StandardStream.error.rawValue) : nil

  /// Writes a message to standard error.
  ///
  /// - Parameter fields: The additional fields of the journal entry.
  static func say(_ line: String = "", _ priority: LinePriority = .information, _ fields: JournalFields = .none) {
    if enter(line, priority, fields) { return }
    // Work goes on even if the message cannot be written.
    try? OutputWriter.standardError.writeLine(
      isJournal ? JournalStream.entries(line, priority) : fitted(line, .error))
  }

  /// Returns text that is wrapped between words if the window is narrower.
  private static func fitted(_ text: String, _ stream: StandardStream) -> String {
    guard capabilities.isTerminal(stream), let columns = TerminalSize.ofWindow(of: [stream])?.columns else {
      return text
    }
    return WrappedText.lines(of: text, columns: columns).joined(separator: "\n")
  }

  /// Writes a line of a log with the current time, which the journal adds by itself.
  static func log(_ line: String, _ priority: LinePriority = .information, _ fields: JournalFields = .none) {
    say(isJournal ? line : "\(Date().localText) \(line)", priority, fields)
  }

  /// Writes a warning. It is escaped, because warnings quote errors, and errors may quote anything.
  static func warn(_ line: String, _ fields: JournalFields = .none) {
    say("\(style.yellow("warning:")) \(PlainText.escaped(line, limit: 1000))", .warning, fields)
  }

  /// Prints a line of data that is also an event. If standard output leads to the journal as well, the entry gets the
  /// fields.
  static func print(_ line: String, _ fields: JournalFields) throws {
    if JournalStream.leads(from: .output), enter(line, .information, fields) { return }
    try print(line)
  }

  /// Writes an entry to the journal.
  ///
  /// - Returns: Whether the journal has taken it.
  private static func enter(_ line: String, _ priority: LinePriority, _ fields: JournalFields) -> Bool {
    guard let journal else { return false }
    // An empty line sets others apart for a person.
    if line.isEmpty { return true }
    return journal.write(
      JournalEntry(line, priority: priority.rawValue, program: "hpeer", fields: fields.values))
  }

  static func print(_ line: String) throws {
    try OutputWriter.standardOutput.writeLine(fitted(line, .output))
  }

  /// Prints phrases on one line, or on several indented ones if the window is too narrow.
  ///
  /// - Parameter separator: The text between two phrases. At the end of a line it loses its trailing spaces.
  static func print(phrases: [String], separator: String = "  ") throws {
    let width = capabilities.isTerminal(.output) ? capabilities.size.columns : .max
    var line = ""
    for (index, phrase) in phrases.enumerated() {
      let joined = index == 0 ? phrase : line + separator + phrase
      if index > 0, DisplayWidth.of(joined) > width {
        try print((line + separator).trimmedAtEnd)
        line = "  " + phrase
      } else {
        line = joined
      }
    }
    if !line.isEmpty { try print(line) }
  }

  static func print(_ table: Table) throws {
    let width = capabilities.isTerminal(.output) ? capabilities.size.columns : nil
    try OutputWriter.standardOutput.writeLines(table.rendered(width: width, style: outputStyle))
  }

  static func print(_ rows: CSVRows) throws {
    try OutputWriter.standardOutput.write(rows.bytes)
  }

  /// Prints a chart.
  ///
  /// - Parameter rendered: Draws the chart for a width, a style, and whether blocks and lines can be shown.
  static func print(chart rendered: (_ width: Int, _ style: Style, _ usesUTF8: Bool) -> [String]) throws {
    let width = capabilities.isTerminal(.output) ? capabilities.size.columns : 80
    try OutputWriter.standardOutput.writeLines(rendered(width, outputStyle, capabilities.usesUTF8))
  }

  static func print(json value: some Encodable) throws {
    let encoder = JSONEncoder()
    // As ``JSONNumber`` has them.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    // An object is one line on a terminal, too, where it may be copied.
    try OutputWriter.standardOutput.writeLine(
      PlainText.escapedJSON(String(decoding: try encoder.encode(value), as: UTF8.self)))
  }
}
