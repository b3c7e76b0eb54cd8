import ArgumentParser
import Foundation
import HealthModel
import PeerTrust

/// What a machine that pairs may read.
struct ScopeOptions: ParsableArguments {
  @Option(
    help: "A machine that pairs may read only these types, comma-separated short names or HealthKit identifiers.",
    transform: SampleType.list)
  var types: [SampleType]?
  @Option(
    help: "A machine that pairs may read nothing that starts before this date (2024-06-15) or instant (ISO 8601).")
  var since: DateArgument?

  /// Nil leaves a machine that pairs again what it had, and gives a new one everything.
  var scope: PeerScope? {
    guard types != nil || since != nil else { return nil }
    return PeerScope(
      types: types.map { Set($0.map(\.rawValue)) },
      earliest: since.map { Date(timeIntervalSince1970: Double($0.start.seconds)) })
  }
}

/// How long a token stays valid without being used.
struct TokenLifetimeOption: ParsableArguments {
  @Option(help: "Days without a request after which a machine must pair again (30 by default).")
  var tokenDays: Int?

  var seconds: TimeInterval? { tokenDays.map { TimeInterval($0) * 86_400 } }

  func validate() throws {
    if let tokenDays, !(1...3650).contains(tokenDays) {
      throw ValidationError("--token-days takes a number from 1 to 3650.")
    }
  }
}
