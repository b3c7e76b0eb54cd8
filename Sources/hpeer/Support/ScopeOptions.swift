import ArgumentParser
import Foundation
import HealthModel
import HealthStore
import PeerTrust
import Terminal

/// The options that limit what a machine that pairs may read.
struct ScopeOptions: ParsableArguments {
  @OptionGroup var selection: TypeOptions
  @OptionGroup var period: RecordPeriodOptions
  @OptionGroup var sources: SourceOptions

  /// Whether any limit was given.
  var isGiven: Bool { period.isBounded || selection.set != nil || sources.set != nil }

  /// Returns the scope. `nil` leaves a machine that pairs again its previous scope, and gives a new machine
  /// everything.
  ///
  /// - Parameter store: The store whose home zone dates are in.
  func scope(in store: HealthStore?) async throws -> SampleFilter? {
    guard isGiven else { return nil }
    return try await period.period(in: store).filter(
      selection.setWithMembers, try await sources.resolved(in: store))
  }
}

/// The option for how long a token stays valid without being used.
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

/// The text for what a machine may read.
enum ScopeText {
  /// The maximum number of types that are named. If there are more, the rest is counted.
  private static let namedTypes = 6

  /// Returns a scope, such as `heartRate, stepCount from 2024-01-01 on`, or `everything`.
  static func of(_ scope: SampleFilter, in zone: TimeZone) -> String {
    types(of: scope) + period(of: scope, in: zone) + sources(of: scope)
  }

  /// Returns the sentence above a pairing code.
  ///
  /// - Parameter scope: The scope of the window; `nil` leaves a machine that was paired before its previous scope.
  static func ofCode(_ scope: SampleFilter?, in zone: TimeZone) -> String {
    guard let scope else {
      return "Whoever types this code may read: everything. A machine that was paired before keeps its limits."
    }
    return "Whoever types this code may read: \(of(scope, in: zone))."
  }

  private static func types(of scope: SampleFilter) -> String {
    guard let types = scope.types else { return "everything" }
    let names = types.map { PlainText.escaped($0.shortName) }.sorted()
    guard names.count > namedTypes else { return names.isEmpty ? "nothing" : names.joined(separator: ", ") }
    return names.prefix(namedTypes - 1).joined(separator: ", ") + " and \(names.count - namedTypes + 1) more types"
  }

  /// Returns the sources, such as ` of "Robin's Watch"`; empty for all sources.
  static func sources(of scope: SampleFilter) -> String {
    guard let sources = scope.sources else { return "" }
    let names = sources.sorted().map { "\"\(PlainText.escaped($0, limit: 60))\"" }
    return names.isEmpty ? " of no source" : " of \(names.joined(separator: " or "))"
  }

  /// Returns the period: ` from 2024-01-01 on`, ` before 2025-01-01`, or ` from 2024-01-01 on and before 2025-01-01`;
  /// empty for all of time.
  static func period(of scope: SampleFilter, in zone: TimeZone) -> String {
    func text(_ instant: Timestamp) -> String {
      instant.isStartOfDay(in: zone) ? instant.date(in: zone) : instant.iso8601(in: zone)
    }
    let parts = [scope.earliest.map { " from \(text($0)) on" }, scope.end.map { " before \(text($0))" }]
    return parts.compactMap(\.self).joined(separator: " and")
  }
}
