import Foundation

extension SettingsFile {
  /// Returns the file with another destination at its end and everything else unchanged.
  ///
  /// - Parameter values: settings of the kind and of ``CommonSettings``.
  /// - Throws: ``SettingsFileError`` if the destination is invalid or its name exists.
  public func appending(
    _ name: String, kind: DestinationKind, _ values: [(key: String, value: DestinationSettings.Value)]
  ) throws(SettingsFileError) -> SettingsFile {
    try appending(.destination, name, [("kind", .text(kind.rawValue))] + values)
  }

  /// Returns the file with another section at its end and everything else unchanged.
  ///
  /// - Throws: ``SettingsFileError`` if the name exists or the resulting text is invalid.
  public func appending(
    _ table: SettingsTable, _ name: String, _ values: [(key: String, value: DestinationSettings.Value)]
  ) throws(SettingsFileError) -> SettingsFile {
    guard destination(name) == nil || table != .destination,
      !sections.contains(where: { $0.table == table && $0.name == name })
    else {
      throw SettingsFileError(path, key: "\(table.rawValue).\(name)", reason: "there is one of this name already.")
    }
    var text = text
    if !text.isEmpty, text.utf8.last != UInt8(ascii: "\n") { text += "\n" }
    if !text.isEmpty, !text.utf8.suffix(2).elementsEqual("\n\n".utf8) { text += "\n" }
    text += "[\(table.rawValue).\(TOMLText.key(name))]\n"
    for (key, value) in values { text += "\(TOMLText.key(key)) = \(TOMLText.value(value))\n" }
    return try SettingsFile(text: text, path: path, kinds: kinds)
  }

  /// Returns a text without one section, with everything else unchanged, including comments. Also works if other
  /// parts of the text are invalid.
  ///
  /// - Throws: ``SettingsFileError`` if the section doesn't exist or isn't written as a table of its own.
  public static func removing(
    _ name: String, of table: SettingsTable = .destination, from text: String, path: String
  ) throws(SettingsFileError) -> String {
    let wanted = [table.rawValue, name]
    let entries = TOMLOutline(text).entries
    func isOf(_ path: [String]) -> Bool { path.count >= 2 && Array(path.prefix(2)) == wanted }
    if let other = entries.first(where: { isOf($0.path) && !isOf($0.header) }) {
      throw SettingsFileError(
        path, line: other.line, key: wanted.joined(separator: "."),
        reason: "it is not written as [\(table.rawValue).\(name)]: remove it by hand.")
    }
    var ranges: [ClosedRange<Int>] = []
    for entry in entries where isOf(entry.header) {
      if let last = ranges.last, !entry.isHeader {
        ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, entry.lastLine)
      } else {
        ranges.append(entry.line...entry.lastLine)
      }
    }
    guard !ranges.isEmpty else {
      throw SettingsFileError(path, key: wanted.joined(separator: "."), reason: "there is none of this name.")
    }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    // Swift's `split` treats "\r\n" as a single character.
    if text.utf8.contains(UInt8(ascii: "\r")) {
      lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
    }
    for range in ranges.reversed() {
      let (first, last) = (range.lowerBound - 1, min(range.upperBound, lines.count) - 1)
      guard first <= last else { continue }
      lines.removeSubrange(first...last)
      // A single blank line remains around the removed lines.
      func isBlank(_ index: Int) -> Bool { lines[index].allSatisfy(\.isWhitespace) }
      while first < lines.count, isBlank(first), first == 0 || isBlank(first - 1) {
        if first == lines.count - 1 { break }
        lines.remove(at: first)
      }
    }
    return lines.joined(separator: "\n")
  }
}

/// A writer for TOML 1.0 values.
enum TOMLText {
  static func value(_ value: DestinationSettings.Value) -> String {
    switch value {
    case .text(let text): quoted(text)
    case .integer(let number): String(number)
    case .number(let number): String(number)
    case .boolean(let flag): flag ? "true" : "false"
    case .list(let texts): "[\(texts.map(quoted).joined(separator: ", "))]"
    case .table(let texts):
      "{ \(texts.sorted { $0.key < $1.key }.map { "\(key($0.key)) = \(quoted($0.value))" }.joined(separator: ", ")) }"
    }
  }

  static func key(_ text: String) -> String {
    let isBare =
      !text.isEmpty
      && text.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
    return isBare ? text : quoted(text)
  }

  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F: quoted += String(format: "\\u%04X", scalar.value)
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
