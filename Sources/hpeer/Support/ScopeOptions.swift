import ArgumentParser
import Foundation
import HealthModel
import PeerTrust

/// What a machine that pairs may read.
struct ScopeOptions: ParsableArguments {
  @OptionGroup var selection: TypeOptions
  @OptionGroup var period: PeriodOptions
  @OptionGroup var sources: SourceOptions

  /// Nil leaves a machine that pairs again what it had, and gives a new one everything.
  var scope: SampleFilter? {
    let scope = period.filter(selection, sources)
    return scope == .everything ? nil : scope
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
