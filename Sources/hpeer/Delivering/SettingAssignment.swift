import ArgumentParser
import Destinations
import Foundation
import HealthModel

/// `--set KEY=VALUE`, which for a table is `--set headers.NAME=VALUE` and for a list comma-separated.
struct SettingAssignment: ExpressibleByArgument {
  let key: String
  let text: String

  init?(argument: String) {
    guard let mark = argument.utf8.firstIndex(of: UInt8(ascii: "=")), mark > argument.startIndex else { return nil }
    key = String(argument[..<mark])
    text = String(argument[argument.index(after: mark)...])
  }

  /// What some of them say, by key, in the order in which they were given.
  static func values(
    _ assignments: [SettingAssignment], of fields: [SettingField]
  ) throws -> [(key: String, value: DestinationSettings.Value)] {
    var keys: [String] = []
    var values: [String: DestinationSettings.Value] = [:]
    for assignment in assignments {
      let parts = assignment.key.split(separator: ".", maxSplits: 1).map(String.init)
      let key = parts[0]
      guard let field = fields.first(where: { $0.key == key }) else {
        throw ValidationError("\(SettingsError(key, .unknown(known: fields.map(\.key))))")
      }
      if values[key] == nil { keys.append(key) }
      values[key] = try value(assignment.text, field, values[key], part: parts.count > 1 ? parts[1] : nil)
    }
    return keys.compactMap { key in values[key].map { (key, $0) } }
  }

  private static func value(
    _ text: String, _ field: SettingField, _ before: DestinationSettings.Value?, part: String?
  ) throws -> DestinationSettings.Value {
    func invalid() -> ValidationError { ValidationError("--set \(field.key) takes \(field.kind.name).") }
    switch field.kind {
    case .integer:
      guard let number = Int(text) else { throw invalid() }
      return .integer(number)
    case .number:
      guard let number = Double(text), number.isFinite else { throw invalid() }
      return .number(number)
    case .boolean:
      guard let flag = Bool(text) else { throw invalid() }
      return .boolean(flag)
    case .list:
      var list: [String] = []
      if case .list(let texts) = before { list = texts }
      if text.hasPrefix("["), let texts = try? JSONDecoder().decode([String].self, from: Data(text.utf8)) {
        return .list(list + texts)
      }
      return .list(list + text.parts(separatedBy: ",").map(String.init))
    case .table:
      guard let part else { throw ValidationError("--set \(field.key) takes \(field.key).NAME=VALUE.") }
      var table: [String: String] = [:]
      if case .table(let texts) = before { table = texts }
      table[part] = text
      return .table(table)
    default:
      guard part == nil else { throw invalid() }
      return .text(text)
    }
  }
}
