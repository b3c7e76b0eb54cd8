import ArgumentParser
import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import PeerClient
import PeerProtocol
import Terminal

/// A date that a person types: `2024-06-15` (a whole day), `2024-06`, `yesterday`, `7d`, `last week`,
/// `2024-06-15T10:30`, or a time with its UTC offset. The zone decides which instant it means: see ``ZoneOptions``.
struct DateArgument: ExpressibleByArgument {
  private let period: SpokenPeriod

  init?(argument: String) {
    guard let period = SpokenPeriod(argument, slashes: TimeLocale.current.slashes) else { return nil }
    self.period = period
  }

  /// Returns the beginning and the end of the date. They differ only if it is a period of several days.
  func bounds(in zone: TimeZone, now: Timestamp) -> (start: DateBound, end: DateBound) {
    period.bounds(in: zone, now: now, weekStartsOnSunday: TimeLocale.current.weekStartsOnSunday)
  }
}

extension PeerEndpoint {
  /// Creates an endpoint from the value of `--host`, with the default port if it names none.
  init(hostOption text: String) throws {
    // The address may have been copied from a browser.
    let schemes = ["https://", "http://"]
    var text = text
    if let scheme = schemes.first(where: text.lowercased().hasPrefix) {
      text = String(text.dropFirst(scheme.count).prefix { $0 != "/" })
    }
    guard let endpoint = PeerEndpoint(text, defaultPort: Route.defaultPort) else {
      throw ValidationError("--host takes HOST or HOST:PORT.")
    }
    self = endpoint
  }

  /// Returns a name that is an IP address or a URL, which no machine is called; `nil` for any other name.
  static func address(_ name: String) -> String? {
    let host = name.split(separator: ":", maxSplits: 1).first.map(String.init) ?? name
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    let isIPv4 = numbers.count == 4 && numbers.allSatisfy { UInt8($0) != nil }
    return isIPv4 || name.contains("://") || name.filter { $0 == ":" }.count > 1 ? name : nil
  }
}

/// The types that a command is about, given as arguments or with `--types`.
struct TypeArguments: ParsableArguments {
  @Argument(
    help: ArgumentHelp("Short names (stepCount) or HealthKit identifiers.", valueName: "type"), completion: .types)
  var names: [String] = []
  @OptionGroup var options: TypeOptions

  /// The number of types that are listed if none is given.
  private static let mostNamed = 12

  func validate() throws { _ = try types }

  /// The types without duplicates, in the order given; empty if none was named.
  var types: [SampleType] {
    get throws {
      var seen: Set<SampleType> = []
      return (try names.map(SampleType.named) + options.types).filter { seen.insert($0).inserted }
    }
  }

  /// Throws if no type was named.
  func requireOne() throws {
    guard try types.isEmpty else { return }
    let held = SampleType.held.map { PlainText.escaped($0.shortName, limit: 100) }
    let (some, rest) = (held.prefix(Self.mostNamed).joined(separator: ", "), held.count - Self.mostNamed)
    throw ValidationError(
      "Name a type, such as \(held.contains("stepCount") ? "stepCount" : held.first ?? "stepCount")"
        + (held.count < 2 ? "." : "; here are \(some)\(rest > 0 ? " and \(rest) more" : "").")
        + " `hpeer types` says how much there is of each.")
  }
}

extension SampleType {
  /// Returns the type that a person names; see ``TypeWords``.
  static func named(_ text: String) throws -> SampleType {
    var types = TypeWords.types(text, held: held)
    if types.isEmpty { types = unlisted(text) }
    if types.count == 1 { return types[0] }
    guard types.isEmpty else {
      let held = held
      let names = types.sorted { held.contains($0) && !held.contains($1) }.map(\.shortName)
      throw ValidationError(
        "\(PlainText.escaped(text)) may be \(names.dropLast().joined(separator: ", ")) or \(names[names.count - 1]): name one."
      )
    }
    let suggestions = TypeWords.suggestions(for: text)
    throw ValidationError(
      "There is no type called \(PlainText.escaped(text))."
        + (suggestions.isEmpty ? "" : " Did you mean \(suggestions.joined(separator: " or "))?")
        + " `hpeer types` lists what the store holds.")
  }

  /// Returns the types in the store that the catalogue does not know and that have this short name by HealthKit's
  /// rule: `brandNewThing` for `HKQuantityTypeIdentifierBrandNewThing`, in any case.
  private static func unlisted(_ text: String) -> [SampleType] {
    held.filter { type in
      guard type.rawValue.hasPrefix("HK"), let end = type.rawValue.range(of: "Identifier")?.upperBound else {
        return false
      }
      return type.rawValue[end...].lowercased() == text.lowercased()
    }
  }

  /// The types that the store has, or had, samples of; none if it cannot be read.
  static var held: [SampleType] {
    (try? HealthStore.types(directory: NameCompletion.home(of: CommandLine.arguments).directory)) ?? []
  }

  /// Returns the types in a comma-separated list of such names; at least one.
  static func list(_ text: String) throws -> [SampleType] {
    let types = try text.parts(separatedBy: ",").map { try named($0.trimmingCharacters(in: .whitespaces)) }
    if types.isEmpty { throw ValidationError("Name at least one type.") }
    return types
  }
}
