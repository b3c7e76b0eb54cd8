import ArgumentParser
import Foundation
import HealthFormats
import Terminal

/// The option `--locale`, which says how the spreadsheet program that opens a table reads numbers.
struct SpreadsheetOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "With --csv: the separator and decimal mark that spreadsheets in this locale (de, fr_CH) expect.",
      valueName: "locale"))
  var locale: SpreadsheetLocale?

  /// Prints a table in the format of RFC 4180, or as the locale's spreadsheets read it.
  func print(_ bytes: [UInt8]) throws {
    try OutputWriter.standardOutput.write(locale?.converted(bytes) ?? bytes)
  }

  func print(_ rows: CSVRows) throws { try print(rows.bytes) }
}

/// A locale. If its decimal mark is a comma, its spreadsheets read other tables than those of RFC 4180.
struct SpreadsheetLocale: ExpressibleByArgument {
  private let hasDecimalComma: Bool

  init?(argument: String) {
    let language = argument.prefix { $0 != "_" && $0 != "-" && $0 != "." }
    guard Locale.LanguageCode.isoLanguageCodes.contains(where: { $0.identifier == language.lowercased() }) else {
      return nil
    }
    hasDecimalComma = Locale(identifier: argument).decimalSeparator == ","
  }

  /// Returns a table with semicolons between fields and a decimal comma in numbers.
  ///
  /// - Parameter csv: Whole rows.
  func converted(_ csv: [UInt8]) -> [UInt8] {
    guard hasDecimalComma else { return csv }
    var result: [UInt8] = []
    result.reserveCapacity(csv.count)
    var field: [UInt8] = []
    var isQuoted = false
    func append() {
      let isBare = field.first != UInt8(ascii: "\"")
      if isBare, Self.isNumber(field) {
        result += field.map { $0 == UInt8(ascii: ".") ? UInt8(ascii: ",") : $0 }
      } else if isBare, field.contains(UInt8(ascii: ";")) {
        result += [UInt8(ascii: "\"")] + field + [UInt8(ascii: "\"")]
      } else {
        result += field
      }
      field.removeAll(keepingCapacity: true)
    }
    for byte in csv {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      switch byte {
      case UInt8(ascii: ",") where !isQuoted:
        append()
        result.append(UInt8(ascii: ";"))
      case 0x0D where !isQuoted, 0x0A where !isQuoted:
        append()
        result.append(byte)
      default: field.append(byte)
      }
    }
    append()
    return result
  }

  private static func isNumber(_ field: [UInt8]) -> Bool {
    guard field.contains(UInt8(ascii: ".")) else { return false }
    return Double(String(decoding: field, as: UTF8.self))?.isFinite == true
  }
}

/// A table for spreadsheets (RFC 4180): a header, and rows that end with CR and LF.
struct CSVRows {
  private(set) var bytes: [UInt8] = []
  private let columns: Int?

  init(columns: [String]) {
    self.columns = columns.count
    append(columns)
  }

  /// Creates rows without a header, which was written before.
  init() { columns = nil }

  /// Appends a row.
  ///
  /// - Parameter fields: A value for each column, escaped here; `nil` for an empty field.
  mutating func append(_ fields: [String?]) {
    for index in 0..<(columns ?? fields.count) {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      guard index < fields.count, let field = fields[index] else { continue }
      SampleCSVWriter.append(PlainText.escaped(field, limit: 1_000), to: &bytes)
    }
    bytes.append(contentsOf: [0x0D, 0x0A])
  }
}
