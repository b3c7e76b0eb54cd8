import Foundation
import HealthModel
import PeerTrust
import Terminal

/// What a machine may read, in words.
enum ScopeText {
  /// More are only counted.
  private static let namedTypes = 6

  /// `heartRate, stepCount from 2024-01-01 on`, or `everything`.
  static func of(_ scope: PeerScope, in zone: TimeZone = .current) -> String {
    types(of: scope) + (beginning(of: scope, in: zone) ?? "")
  }

  /// The sentence that stands before a code.
  ///
  /// - Parameter scope: of the window; nil leaves a machine that was paired before what it could read.
  static func ofCode(_ scope: PeerScope?, in zone: TimeZone = .current) -> String {
    guard let scope else {
      return "Whoever types this code may read: everything. A machine that was paired before keeps its limits."
    }
    return "Whoever types this code may read: \(of(scope, in: zone))."
  }

  private static func types(of scope: PeerScope) -> String {
    guard let types = scope.types else { return "everything" }
    let names = types.map { PlainText.escaped(SampleType($0).shortName) }.sorted()
    guard names.count > namedTypes else { return names.isEmpty ? "nothing" : names.joined(separator: ", ") }
    return names.prefix(namedTypes - 1).joined(separator: ", ") + " and \(names.count - namedTypes + 1) more types"
  }

  /// ` from 2024-01-01 on`
  static func beginning(of scope: PeerScope, in zone: TimeZone) -> String? {
    scope.earliest.map { earliest in
      let instant = Timestamp(earliest)
      return " from \(instant.isStartOfDay(in: zone) ? instant.date(in: zone) : instant.iso8601(in: zone)) on"
    }
  }
}
