import ArgumentParser
import Destinations
import Foundation
import HealthModel
import Terminal

/// A setting given as `--set KEY=VALUE`. For a table it is `--set headers.NAME=VALUE`; a list is comma-separated.
struct SettingAssignment: ExpressibleByArgument {
  let key: String
  let text: String

  init?(argument: String) {
    guard let mark = argument.utf8.firstIndex(of: UInt8(ascii: "=")), mark > argument.startIndex else { return nil }
    key = String(argument[..<mark])
    text = String(argument[argument.index(after: mark)...])
  }

  /// Returns the values of assignments by key, in the order in which they were given.
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

/// The questions for settings that are needed and were not given with `--set`.
enum SettingQuestions {
  /// Asks for the missing settings. Without a terminal, throws an error that names them.
  ///
  /// - Parameters:
  ///   - values: The given values. Answers are added.
  ///   - judge: Throws if the values make no sense, before any secret is asked for.
  ///   - secret: Asks for a secret, even if it is not required; returns `nil` for none.
  static func ask(
    _ fields: [SettingField], _ values: inout [(key: String, value: DestinationSettings.Value)],
    judge: ([(key: String, value: DestinationSettings.Value)]) throws -> Void = { _ in },
    secret: (SettingField) async throws -> DestinationSettings.Value? = { _ in nil }
  ) async throws {
    let given = Set(values.map(\.key))
    let missing = fields.filter { field in
      let isOffered = (field.kind == .secret || field.isAsked) && Console.isInteractive
      return !given.contains(field.key) && (field.isRequired || isOffered)
    }
    guard Console.isInteractive || missing.isEmpty else {
      throw ValidationError(
        "It needs \(missing.map { "--set \($0.key)=…" }.joined(separator: " ")): \(missing.map(\.help).joined(separator: " "))"
      )
    }
    let open = missing.filter { $0.kind != .secret }
    let known = values
    for attempt in 1... {
      values = known
      for field in open { values += try await answer(to: field, of: fields) }
      do {
        try judge(values)
        break
      } catch {
        // What was typed may be wrong: on a terminal it is asked for again.
        guard !open.isEmpty, attempt < mostAttempts else { throw error }
        Console.say(ErrorText.of(error))
      }
    }
    for field in missing where field.kind == .secret {
      Console.say(field.help)
      if let value = try await secret(field) { values.append((field.key, value)) }
    }
  }

  private static let mostAttempts = 5

  /// Asks until the answer is a valid value of the setting; returns nothing if its default is taken.
  private static func answer(
    to field: SettingField, of fields: [SettingField]
  ) async throws -> [(key: String, value: DestinationSettings.Value)] {
    Console.say(field.help)
    let usual = field.defaultValue.map { " [\($0)]" } ?? ""
    for attempt in 1... {
      let text = try await Prompt.readLine(prompt: "\(field.key)\(usual): ")
      if text.isEmpty, field.defaultValue != nil || !field.isRequired { return [] }
      do {
        guard !text.isEmpty, let assignment = SettingAssignment(argument: "\(field.key)=\(text)") else {
          throw ValidationError("\(field.key) is needed.")
        }
        return try SettingAssignment.values([assignment], of: fields)
      } catch {
        guard attempt < mostAttempts else { throw error }
        Console.say(ErrorText.of(error))
      }
    }
    return []
  }
}
