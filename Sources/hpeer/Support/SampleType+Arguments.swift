import ArgumentParser
import Foundation
import HealthModel
import Terminal

extension SampleType {
  /// The type that a person names: a short name (`stepCount`) or a HealthKit identifier.
  static func named(_ text: String) throws -> SampleType {
    guard let type = SampleTypeCatalogue.healthKit.type(named: text) else {
      let suggestions = SampleTypeCatalogue.healthKit.suggestions(for: text)
      throw ValidationError(
        "There is no type called \(PlainText.escaped(text))."
          + (suggestions.isEmpty ? "" : " Did you mean \(suggestions.joined(separator: " or "))?")
          + " `hpeer types` lists what the store holds.")
    }
    return type
  }

  /// A comma-separated list of such names; at least one.
  static func list(_ text: String) throws -> [SampleType] {
    let types = try text.parts(separatedBy: ",").map { try named($0.trimmingCharacters(in: .whitespaces)) }
    if types.isEmpty { throw ValidationError("Name at least one type.") }
    return types
  }
}
