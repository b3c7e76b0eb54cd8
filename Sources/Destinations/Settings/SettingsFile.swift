import Foundation
import HealthModel
import TOMLKit

/// A settings file, `config.toml`: read, checked, and edited without changing what the person wrote.
///
/// ```toml
/// [destination.home]
/// kind = "folder"
/// path = "~/Sync/health"
/// types = ["stepCount", "heartRate"]
/// ```
public struct SettingsFile: Sendable {
  /// The maximum size in bytes.
  public static let longest = 1_024 * 1_024

  /// The path, for errors.
  public let path: String
  /// The text as the person wrote it.
  public let text: String
  /// The destinations, sorted by name.
  public let destinations: [DestinationSection]
  /// The sections of all other tables, sorted by table and name. Their keys are not checked.
  public let sections: [SettingsSection]
  /// The options of commands. Their keys are not checked.
  public let commands: [CommandTable]
  /// The errors in the destinations and tables that were skipped; empty if the file was read strictly.
  public let mistakes: [SettingsFileError]
  let kinds: [any Destination.Type]

  /// Reads a settings file from its text.
  ///
  /// - Parameters:
  ///   - text: the content of the file; empty if there is none.
  ///   - kinds: the known kinds of destinations.
  ///   - leavesOut: whether to skip destinations and tables with errors and read all others.
  /// - Throws: ``SettingsFileError`` for the first error; with `leavesOut`, only for an error outside a single table.
  public init(
    text: String, path: String, kinds: [any Destination.Type] = DestinationKinds.all, leavesOut: Bool = false
  ) throws(SettingsFileError) {
    (self.path, self.text, self.kinds) = (path, text, kinds)
    var reader = SettingsFileReader(text: text, path: path, kinds: kinds)
    (destinations, sections, commands) = try reader.read()
    mistakes = reader.mistakes
    if !leavesOut, let mistake = mistakes.first { throw mistake }
  }

  /// Reads a settings file from its bytes. Throws ``SettingsFileError`` also if they are not UTF-8.
  ///
  /// - Parameter bytes: the content of the file.
  public init(
    bytes: [UInt8], path: String, kinds: [any Destination.Type] = DestinationKinds.all, leavesOut: Bool = false
  ) throws(SettingsFileError) {
    guard bytes.count <= Self.longest else { throw SettingsFileError(path, reason: "it is longer than 1 MiB.") }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      let valid = String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes) ? nil : Self.lineOfFault(bytes)
      throw SettingsFileError(path, line: valid, reason: "it is not UTF-8 text.")
    }
    try self.init(text: text, path: path, kinds: kinds, leavesOut: leavesOut)
  }

  /// The names of all destinations, including skipped ones.
  public var destinationNames: [String] {
    let prefix = "destination."
    let left = mistakes.compactMap(\.key).filter { $0.hasPrefix(prefix) }.map {
      String($0.dropFirst(prefix.count).prefix { $0 != "." })
    }
    return destinations.map(\.name) + left
  }

  /// Returns the error in a destination that was skipped, or `nil` for any other.
  public func mistake(inDestination name: String) -> SettingsFileError? {
    mistakes.first { $0.isIn("destination.\(name)") }
  }

  private static func lineOfFault(_ bytes: [UInt8]) -> Int? {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }.map { $0 + 1 }
  }

  /// Returns the destination with this name, or `nil` if there is none.
  public func destination(_ name: String) -> DestinationSection? { destinations.first { $0.name == name } }

  /// Returns the error for an option of a command, with its line.
  public func error(_ mistake: SettingsError, in table: CommandTable) -> SettingsFileError {
    let keys = [table.command, mistake.key]
    return SettingsFileError(
      path, line: TOMLOutline(text).line(of: keys), key: keys.joined(separator: "."), reason: mistake.reason)
  }

  /// Returns the error for a setting of a section, with its line.
  public func error(_ mistake: SettingsError, in section: SettingsSection) -> SettingsFileError {
    let keys = [section.table.rawValue, section.name, mistake.key]
    return SettingsFileError(
      path, line: TOMLOutline(text).line(of: keys), key: keys.joined(separator: "."), reason: mistake.reason)
  }
}

/// A reader that parses and checks the text of a ``SettingsFile``.
private struct SettingsFileReader {
  let text: String
  let path: String
  let kinds: [any Destination.Type]
  /// The errors in the tables that are skipped.
  private(set) var mistakes: [SettingsFileError] = []

  init(text: String, path: String, kinds: [any Destination.Type]) {
    (self.text, self.path, self.kinds) = (text, path, kinds)
  }

  mutating func read() throws(SettingsFileError) -> ([DestinationSection], [SettingsSection], [CommandTable]) {
    // TOML doesn't allow NUL, and the parser would stop there.
    guard !text.utf8.contains(0) else { throw SettingsFileError(path, reason: "it is not text: it holds a NUL byte.") }
    // The parser returns C strings, which would end at the NUL.
    if text.contains(#"\u0000"#) || text.contains(#"\U00000000"#) {
      throw SettingsFileError(path, reason: "it holds an escaped NUL, which no setting can have.")
    }
    if let mistake = TOMLSyntax.mistake(in: text) {
      throw SettingsFileError(path, line: mistake.line, column: mistake.column, reason: mistake.reason)
    }
    let root: TOMLTable
    do {
      root = try TOMLTable(string: text)
    } catch let error as TOMLParseError {
      throw SettingsFileError(
        path, line: error.source.begin.line, column: error.source.begin.column,
        reason: "\(error.description).")
    } catch {
      throw SettingsFileError(path, reason: "it cannot be read (\(error)).")
    }
    defer { withExtendedLifetime(root) {} }
    return sections(root)
  }

  /// Runs a closure and records its error.
  ///
  /// - Returns: `nil` after an error.
  private mutating func noting<Value>(_ body: () throws(SettingsFileError) -> Value) -> Value? {
    do throws(SettingsFileError) {
      return try body()
    } catch {
      mistakes.append(error)
      return nil
    }
  }

  private mutating func sections(_ root: TOMLTable) -> ([DestinationSection], [SettingsSection], [CommandTable]) {
    let outline = TOMLOutline(text)
    let known = SettingsTable.allCases.map(\.rawValue) + SettingsCommands.names
    for key in root.keys.sorted() where !known.contains(key) {
      let similar = SimilarNames.suggestions(for: key, among: known).first
      mistakes.append(error([key], "this is no setting\(similar.map { "; did you mean \($0)?" } ?? ".")", outline))
    }
    var destinations: [DestinationSection] = []
    var sections: [SettingsSection] = []
    for kind in SettingsTable.allCases {
      let key = kind.rawValue
      guard let value = root[key] else { continue }
      guard let tables = value.table else {
        mistakes.append(error([key], "\(key)s are tables, such as [\(key).home].", outline))
        continue
      }
      for name in tables.keys.sorted() {
        let path = [key, name]
        guard DestinationSection.isName(name) else {
          mistakes.append(error(path, "a name is of letters, digits, - and _, at most 64.", outline))
          continue
        }
        guard let table = tables[name]?.table else {
          mistakes.append(error(path, "\(kind.article) \(key) is a table, such as [\(key).home].", outline))
          continue
        }
        let (reader, isDestination) = (self, kind == .destination)
        if isDestination {
          let section = noting { () throws(SettingsFileError) in try reader.section(name, table, outline) }
          if let section { destinations.append(section) }
        } else {
          // The valid keys of an automation are kept, such as the one that names its destination.
          let (section, faults) = reader.plainSection(kind, name, table, outline)
          sections.append(section)
          mistakes += faults
        }
      }
    }
    var commands: [CommandTable] = []
    for name in SettingsCommands.names {
      guard let value = root[name] else { continue }
      guard let table = value.table else {
        mistakes.append(error([name], "the options of a command are a table, such as [\(name)].", outline))
        continue
      }
      let reader = self
      let values = noting { () throws(SettingsFileError) in try reader.values(of: table, at: [name], outline) }
      if let values { commands.append(CommandTable(command: name, values: values)) }
    }
    return (destinations, sections, commands)
  }

  private func plainSection(
    _ kind: SettingsTable, _ name: String, _ table: TOMLTable, _ outline: TOMLOutline
  ) -> (section: SettingsSection, mistakes: [SettingsFileError]) {
    let path = [kind.rawValue, name]
    var values: [String: DestinationSettings.Value] = [:]
    var mistakes: [SettingsFileError] = []
    for key in table.keys.sorted() {
      if let value = table[key].flatMap(Self.value) {
        values[key] = value
      } else {
        mistakes.append(error(path + [key], "this is nothing that a setting holds.", outline))
      }
    }
    return (SettingsSection(table: kind, name: name, values: values, line: outline.line(of: path) ?? 1), mistakes)
  }

  private func values(
    of table: TOMLTable, at path: [String], _ outline: TOMLOutline
  ) throws(SettingsFileError) -> [String: DestinationSettings.Value] {
    var values: [String: DestinationSettings.Value] = [:]
    for key in table.keys.sorted() {
      guard let value = table[key].flatMap(Self.value) else {
        throw error(path + [key], "this is nothing that a setting holds.", outline)
      }
      values[key] = value
    }
    return values
  }

  private func section(
    _ name: String, _ table: TOMLTable, _ outline: TOMLOutline
  ) throws(SettingsFileError) -> DestinationSection {
    let path = ["destination", name]
    guard let kindName = table["kind"]?.string else {
      throw error(path + ["kind"], "it must be one of \(names).", outline)
    }
    guard let kind = kinds.first(where: { $0.description.kind.rawValue == kindName }) else {
      let similar = SimilarNames.suggestions(for: kindName, among: kinds.map { $0.description.kind.rawValue })
      let meant = similar.isEmpty ? "there are \(names)." : "did you mean \(similar.joined(separator: " or "))?"
      throw error(path + ["kind"], "there is no kind called \(kindName); \(meant)", outline)
    }
    do {
      let known = kind.description.fields + CommonSettings.fields
      var values: [String: DestinationSettings.Value] = [:]
      for key in table.keys.sorted() where key != "kind" {
        guard let field = known.first(where: { $0.key == key }) else {
          throw SettingsError(key, .unknown(known: known.map(\.key)))
        }
        guard let value = table[key].flatMap(Self.value) else {
          throw SettingsError(key, .invalid("must be \(field.kind.name)"))
        }
        values[key] = value
      }
      return try DestinationSection(
        name, kind, values, fields: kind.description.fields, line: outline.line(of: path) ?? 1)
    } catch let mistake as SettingsError {
      throw error(path + [mistake.key], mistake.reason, outline)
    } catch {
      throw SettingsFileError(self.path, reason: "\(error)")
    }
  }

  private var names: String { kinds.map { $0.description.kind.rawValue }.joined(separator: ", ") }

  private func error(_ path: [String], _ reason: String, _ outline: TOMLOutline) -> SettingsFileError {
    SettingsFileError(
      self.path, line: outline.line(of: path), key: path.joined(separator: "."), reason: reason)
  }

  /// Returns the value of a setting, or `nil` for a TOML value that no setting can have.
  private static func value(_ value: any TOMLValueConvertible) -> DestinationSettings.Value? {
    switch value.type {
    case .string: return value.string.map { .text($0) }
    case .int: return value.int.map { .integer($0) }
    case .bool: return value.bool.map { .boolean($0) }
    case .double: return value.double.map { .number($0) }
    case .date:
      guard let date = value.date else { return nil }
      return .text(String(format: "%04d-%02d-%02d", date.year, date.month, date.day))
    case .array:
      guard let array = value.array else { return nil }
      let texts = array.compactMap(\.string)
      return texts.count == array.count ? .list(texts) : nil
    case .table:
      guard let table = value.table else { return nil }
      var texts: [String: String] = [:]
      for key in table.keys {
        guard let text = table[key]?.string else { return nil }
        texts[key] = text
      }
      return .table(texts)
    case .time, .dateTime: return nil
    }
  }
}
