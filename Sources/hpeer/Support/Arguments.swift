import ArgumentParser
import Foundation
import HealthModel
import HealthStore
import PeerClient
import PeerProtocol
import Terminal

/// A date that a person types: `2024-06-15` (a whole day), `2024-06`, `yesterday`, `7d`, `2024-06-15T10:30`, or a time with its
/// offset from UTC. Which instant it means, its zone says: see ``ZoneOptions``.
struct DateArgument: ExpressibleByArgument {
  let bound: DateBound

  init?(argument: String) {
    guard let bound = DateBound(argument) else { return nil }
    self.bound = bound
  }
}

extension PeerEndpoint {
  /// What `--host` was given; the default port where it names none.
  init(hostOption text: String) throws {
    guard let endpoint = PeerEndpoint(text, defaultPort: Route.defaultPort) else {
      throw ValidationError("--host takes HOST or HOST:PORT.")
    }
    self = endpoint
  }
}

/// The types that a command is about, one after the other: words of their own, or `--types`.
struct TypeArguments: ParsableArguments {
  @Argument(
    help: ArgumentHelp("Short names (stepCount) or HealthKit identifiers.", valueName: "type"), completion: .types)
  var names: [String] = []
  @OptionGroup var options: TypeOptions

  func validate() throws { _ = try types }

  /// In the order given, each once; empty where none was named.
  var types: [SampleType] {
    get throws {
      var seen: Set<SampleType> = []
      return (try names.map(SampleType.named) + options.types).filter { seen.insert($0).inserted }
    }
  }

  /// Throws where none was named.
  func requireOne() throws {
    if try types.isEmpty { throw ValidationError("Name a type, such as stepCount; `hpeer types` lists them.") }
  }
}

extension SampleType {
  /// The type that a person names: a short name (`stepCount`), a HealthKit identifier, or whatever a sample of this store is of.
  static func named(_ text: String) throws -> SampleType {
    // What people call it.
    let text = text.lowercased() == "sleep" ? "sleepAnalysis" : text
    guard let type = SampleTypeCatalogue.healthKit.type(named: text) ?? held(named: text) else {
      let suggestions = SampleTypeCatalogue.healthKit.suggestions(for: text)
      throw ValidationError(
        "There is no type called \(PlainText.escaped(text))."
          + (suggestions.isEmpty ? "" : " Did you mean \(suggestions.joined(separator: " or "))?")
          + " `hpeer types` lists what the store holds.")
    }
    return type
  }

  /// A type that only the store knows, as clinical records name theirs, so that what `hpeer types` prints can be asked for.
  private static func held(named text: String) -> SampleType? {
    let home = NameCompletion.home(of: CommandLine.arguments)
    let types = (try? HealthStore.types(directory: home.directory)) ?? []
    return types.first { $0.rawValue == text } ?? types.first { $0.rawValue.lowercased() == text.lowercased() }
  }

  /// A comma-separated list of such names; at least one.
  static func list(_ text: String) throws -> [SampleType] {
    let types = try text.parts(separatedBy: ",").map { try named($0.trimmingCharacters(in: .whitespaces)) }
    if types.isEmpty { throw ValidationError("Name at least one type.") }
    return types
  }
}
