import ArgumentParser
import Destinations
import HealthModel
import HealthOperations
import Terminal

/// The destination that a command is about.
struct DestinationArgument: ParsableArguments {
  @Argument(help: "The destination's name, as `hpeer destination list` has it.", completion: .destinations)
  var name: String

  func section(_ home: Home) throws -> DestinationSection { try Self.section(name, home) }

  static func section(_ name: String, _ home: Home) throws -> DestinationSection {
    let file = try home.readableSettings()
    if let mistake = file.mistake(inDestination: name) { throw mistake }
    if let section = file.destination(name) { return section }
    let similar = SimilarNames.suggestions(for: name, among: file.destinations.map(\.name))
    throw ValidationError(
      "There is no destination called \(PlainText.escaped(name, limit: 80))"
        + (similar.isEmpty
          ? ": `hpeer destination list` has them." : "; did you mean \(similar.joined(separator: " or "))?"))
  }
}
