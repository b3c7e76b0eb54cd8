import ArgumentParser
import Destinations
import Terminal

/// Asks a person for the settings that something needs and that were not given with `--set`.
enum SettingQuestions {
  /// Without a terminal, says what is missing.
  ///
  /// - Parameters:
  ///   - values: those that were given; what is asked for is added.
  ///   - judge: throws where the values make no sense, before any secret is asked for.
  ///   - secret: asks for a secret, which is asked for also where it is not needed; `nil` where there is none.
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
    for field in missing where field.kind != .secret {
      Console.say(field.help)
      let usual = field.defaultValue.map { " [\($0)]" } ?? ""
      let text = try await Prompt.readLine(prompt: "\(field.key)\(usual): ")
      if text.isEmpty, field.defaultValue != nil { continue }
      guard let assignment = SettingAssignment(argument: "\(field.key)=\(text)") else { continue }
      values += try SettingAssignment.values([assignment], of: fields)
    }
    try judge(values)
    for field in missing where field.kind == .secret {
      Console.say(field.help)
      if let value = try await secret(field) { values.append((field.key, value)) }
    }
  }
}
