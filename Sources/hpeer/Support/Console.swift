import Foundation
import OperatingSystem
import Terminal

/// Data goes to standard output, everything said to the person to standard error.
enum Console {
  static let capabilities = TerminalCapabilities.current()
  static let style = Style(for: .error, of: capabilities)
  static let outputStyle = Style(for: .output, of: capabilities)

  /// Whether somebody reads what is said, and can answer.
  static var isInteractive: Bool { capabilities.isTerminal(.input) && capabilities.isTerminal(.error) }

  /// Whether what is said goes to the journal.
  static let isJournal = JournalStream.leads(from: .error)

  /// The journal that standard error leads to, which takes more than lines.
  private static let journal = isJournal ? SystemJournal(behind: StandardStream.error.rawValue) : nil

  /// - Parameter fields: what the journal gets beside the line.
  static func say(_ line: String = "", _ priority: LinePriority = .information, _ fields: EntryFields = .none) {
    if enter(line, priority, fields) { return }
    // Where nobody can be told, the work goes on.
    try? OutputWriter.standardError.writeLine(
      isJournal ? JournalStream.entries(line, priority) : fitted(line, .error))
  }

  /// Broken between words where the window is narrower than the text.
  private static func fitted(_ text: String, _ stream: StandardStream) -> String {
    guard capabilities.isTerminal(stream), let columns = TerminalSize.ofWindow(of: [stream])?.columns else {
      return text
    }
    return WrappedText.lines(of: text, columns: columns).joined(separator: "\n")
  }

  /// A line of a log, with the time at which it is said; the journal adds that by itself.
  static func log(_ line: String, _ priority: LinePriority = .information, _ fields: EntryFields = .none) {
    say(isJournal ? line : "\(Date().localText) \(line)", priority, fields)
  }

  /// Warnings quote errors, and those quote anybody.
  static func warn(_ line: String, _ fields: EntryFields = .none) {
    say("\(style.yellow("warning:")) \(PlainText.escaped(line, limit: 1000))", .warning, fields)
  }

  /// A line of data that is an event, too: where standard output leads to the journal as well, it gets the fields.
  static func print(_ line: String, _ fields: EntryFields) throws {
    if JournalStream.leads(from: .output), enter(line, .information, fields) { return }
    try print(line)
  }

  /// - Returns: whether the journal has it.
  private static func enter(_ line: String, _ priority: LinePriority, _ fields: EntryFields) -> Bool {
    guard let journal else { return false }
    // An empty line sets others apart for a person.
    if line.isEmpty { return true }
    return journal.write(
      JournalEntry(line, priority: priority.rawValue, program: "hpeer", fields: fields.values))
  }

  static func print(_ line: String) throws {
    try OutputWriter.standardOutput.writeLine(fitted(line, .output))
  }

  /// Phrases on one line, or on more, indented, where the window is too narrow.
  ///
  /// - Parameter separator: between two of them; what is left of it at the end of a line has no spaces.
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

  /// - Parameter rendered: draws for a width, a style and whether blocks and lines can be shown.
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
    // Also on a terminal, where it may be copied, an object is one line.
    try OutputWriter.standardOutput.writeLine(
      PlainText.escapedJSON(String(decoding: try encoder.encode(value), as: UTF8.self)))
  }
}
