import ArgumentParser
import Foundation
import HealthModel
import HealthStore
import PeerTrust

/// What a machine that pairs may read.
struct ScopeOptions: ParsableArguments {
  @OptionGroup var selection: TypeOptions
  @OptionGroup var period: RecordPeriodOptions
  @OptionGroup var sources: SourceOptions

  /// Whether a limit was named.
  var isGiven: Bool { period.isBounded || selection.set != nil || sources.set != nil }

  /// Nil leaves a machine that pairs again what it had, and gives a new one everything.
  ///
  /// - Parameter store: whose person's zone the dates are in.
  func scope(in store: HealthStore?) async throws -> SampleFilter? {
    guard isGiven else { return nil }
    return try await period.period(in: store).filter(selection.setWithMembers, sources.set)
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
