import Foundation
import HealthModel

/// What a phone does not list any more of what it sent: deleted there, perhaps. The apps say nothing of deletions, and list
/// nothing where they are locked or a permission was taken back; so that something counts as deleted only where all of this
/// holds.
///
/// - The type was read from end to end, twice, at least twenty hours apart, and the sample was missing both times.
/// - The type had no shorter list in between, and no other type of the phone was shorter, empty, refused or not listed
///   either of both times.
/// - It is no more than a twentieth of the type, and of the stretch that it was missing from.
/// - This phone had sent it.
struct Absences: Codable, Equatable {
  /// In seconds.
  static let apart: Int64 = 20 * 3_600
  /// The most that are kept of a type; where more is missing, nothing is concluded.
  static let most = 1_000
  /// One part in so many may be missing.
  private static let share = 20

  private struct Missing: Codable, Equatable {
    /// When they were missing first, in seconds since 1970.
    var since: Int64
    /// How many the type had then.
    var total: Int
    var uuids: Set<UUID>
  }

  /// By the app's names.
  private var types: [String: Missing] = [:]

  /// What a walk through one type from end to end found.
  struct Finding {
    var name: String
    var missing: [Sample]
    /// Rows that the phone has.
    var total: Int
    /// Rows that it had at the last look; `nil` where there was none.
    var before: Int?

    var hasShrunk: Bool { before.map { total < $0 } ?? false }
  }

  /// Whether so many of a stretch of a list, or of all of it, may have been deleted.
  static func isPlausible(_ missing: Int, among present: Int) -> Bool {
    missing <= most && missing * share <= present + missing
  }

  /// A look at a type that was not read from end to end.
  mutating func look(_ name: String, total: Int?) {
    if let known = types[name], total.map({ $0 < known.total }) ?? true { types[name] = nil }
  }

  /// What counts as deleted by what was found in one run.
  ///
  /// - Parameter disturbed: types of which the phone gave less than it had, or nothing, in this run.
  mutating func conclude(_ findings: [Finding], disturbed: Set<String>, now: Int64) -> [Sample] {
    let disturbed = disturbed.union(findings.filter(\.hasShrunk).map(\.name))
    var deleted: [Sample] = []
    for finding in findings {
      let missing = Set(finding.missing.map(\.uuid))
      guard finding.total > 0, !missing.isEmpty, Self.isPlausible(missing.count, among: finding.total) else {
        types[finding.name] = nil
        continue
      }
      // As much as a permission that was taken back, or a lock in the middle, would look like a deletion.
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
