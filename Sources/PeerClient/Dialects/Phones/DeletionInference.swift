import Foundation
import HealthModel

/// The samples that a phone sent but no longer lists, and that may have been deleted there. The apps do not report
/// deletions, and they list nothing if they are locked or a permission was revoked. A sample therefore counts as
/// deleted only if all of this holds:
///
/// - The type was read completely, twice, at least twenty hours apart, and the sample was missing both times.
/// - The type's list was not shorter in between. In neither of the two reads was any other type of the phone shorter,
///   empty, refused or not listed.
/// - The missing samples are no more than a twentieth of the type, and of the stretch in which they are missing.
/// - This phone sent the sample.
struct DeletionInference: Codable, Equatable {
  /// The minimum time between the two reads in seconds.
  static let apart: Int64 = 20 * 3_600
  /// The maximum number of missing samples kept of a type. If more are missing, no deletion is concluded.
  static let most = 1_000
  /// The divisor of the largest share that may be missing: one in twenty.
  private static let share = 20

  private struct Missing: Codable, Equatable {
    /// The time at which the samples were first missing, in seconds since 1970.
    var since: Int64
    /// The number of rows that the type had then.
    var total: Int
    var uuids: Set<UUID>
  }

  /// The missing samples of each type, keyed by the app's name.
  private var types: [String: Missing] = [:]

  /// The result of a complete walk through one type.
  struct Finding {
    var name: String
    var missing: [Sample]
    /// The number of rows on the phone.
    var total: Int
    /// The number of rows at the previous read, or `nil` if there was none.
    var before: Int?

    var hasShrunk: Bool { before.map { total < $0 } ?? false }
  }

  /// Returns whether so many samples of a list, or of a stretch of it, can plausibly have been deleted.
  static func isPlausible(_ missing: Int, among present: Int) -> Bool {
    missing <= most && missing * share <= present + missing
  }

  /// Notes the number of rows of a type that was not read completely.
  mutating func look(_ name: String, total: Int?) {
    if let known = types[name], total.map({ $0 < known.total }) ?? true { types[name] = nil }
  }

  /// Returns the samples that count as deleted after one run.
  ///
  /// - Parameter disturbed: the types of which the phone returned less than before, or nothing, in this run.
  mutating func conclude(_ findings: [Finding], disturbed: Set<String>, now: Int64) -> [Sample] {
    let disturbed = disturbed.union(findings.filter(\.hasShrunk).map(\.name))
    var deleted: [Sample] = []
    for finding in findings {
      let missing = Set(finding.missing.map(\.uuid))
      guard finding.total > 0, !missing.isEmpty, Self.isPlausible(missing.count, among: finding.total) else {
        types[finding.name] = nil
        continue
      }
      // A revoked permission or a lock in the middle would look like a deletion, too.
      guard disturbed.subtracting([finding.name]).isEmpty else {
        if types[finding.name].map({ finding.total < $0.total }) ?? false { types[finding.name] = nil }
        continue
      }
      guard let first = types[finding.name], finding.total >= first.total else {
        types[finding.name] = Missing(since: now, total: finding.total, uuids: missing)
        continue
      }
      let both = first.uuids.intersection(missing)
      guard now - first.since >= Self.apart else {
        types[finding.name]?.uuids = both
        continue
      }
      deleted += finding.missing.filter { both.contains($0.uuid) }
      let rest = missing.subtracting(both)
      types[finding.name] = rest.isEmpty ? nil : Missing(since: now, total: finding.total, uuids: rest)
    }
    return deleted
  }
}
