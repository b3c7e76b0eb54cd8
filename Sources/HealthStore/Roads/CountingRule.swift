import Foundation
import HealthModel

/// The rule that decides which samples of a group are hidden because a sample with the same content came by another
/// road.
///
/// A group has one type, one source name, and the same whole seconds of start and end. Within it, samples with equal
/// values form a class. Each family of identities counts the recordings of a class separately, each recording once.
/// So the largest count is the number of recordings, and the largest count of deletions is the number of deleted
/// ones:
///
///     shown = max(held + deleted, of each family) - max(deleted, of each family)
///
/// Exported samples are shown first, because they are the most detailed, then those with HealthKit's UUIDs, each by
/// UUID. The result depends only on the samples and tombstones of the group, so that machines with the same samples
/// and tombstones show the same samples.
///
/// A tombstone says little about the deleted value (``Tombstone/hint``). If several classes may be meant and not all
/// of them can be, none is hidden: showing a deleted sample is better than losing one.
struct CountingRule {
  /// The origin of a UUID. Each family gives a recording an identity of its own.
  enum Family: Int, CaseIterable {
    /// The identities that hpeer derives from the content of an export.
    case export
    /// HealthKit's own UUIDs, from an app. Some have version 5, as if derived, because the app that wrote the sample
    /// chose them.
    case healthKit
    /// The identities that Health Auto Export assigns.
    case autoExport

    /// Creates the family of a UUID.
    ///
    /// - Parameter road: the road by which the sample came.
    init(_ uuid: UUID, road: SampleRoad) {
      self =
        switch road {
        case .healthAutoExport where uuid.isDerived: .autoExport
        case .healthAppTransfer, .healthSync: .healthKit
        default: uuid.isDerived ? .export : .healthKit
        }
    }
  }

  struct Member {
    var uuid: UUID
    var family: Family
    /// A number that is equal for samples of one class.
    var valueClass: Int
    /// The hints that a deletion of the sample can have; `nil` for any.
    var hints: Set<UInt8>?
  }

  /// Returns whether a deletion may belong to a sample with these hints; see ``Member/hints``.
  static func accepts(_ deletion: Deletion, _ hints: Set<UInt8>?) -> Bool {
    guard let hints, let hint = deletion.hint else { return true }
    return hints.contains(hint)
  }

  /// The properties of a deleted sample of the group.
  struct Deletion {
    var family: Family
    var hint: UInt8?
  }

  private let deletions: [Deletion]

  /// Creates a rule for the deletions of a group.
  init(_ deletions: [Deletion]) {
    self.deletions = deletions
  }

  /// Returns the indices of the members that are hidden.
  func hidden(_ members: [Member]) -> Set<Int> {
    let classes = Dictionary(grouping: members.indices) { members[$0].valueClass }.values.map {
      Class($0, of: members, deletions)
    }
    // The losses if each deletion belonged to every class. A deletion can explain only one of them.
    let doubtful = classes.filter { $0.losses > 0 }
    let deleted = deletions.filter { deletion in doubtful.contains { $0.accepts(deletion) } }.byFamily
    let most = deleted.max() ?? 0
    func losses(_ classes: [Class]) -> Int { classes.reduce(0) { $0 + $1.losses } }
    let isCertain =
      losses(doubtful) <= most
      && Family.allCases.allSatisfy { family in
        losses(doubtful.filter { $0.leading == family.rawValue }) <= most - deleted[family.rawValue]
      }
    return classes.reduce(into: []) { hidden, value in
      hidden.formUnion(value.members.dropFirst(value.things - (isCertain ? value.losses : 0)))
    }
  }

  private struct Class {
    /// The indices of the members, in the order in which they are shown.
    let members: [Int]
    /// The number of recordings without deletions.
    let things: Int
    /// The index of the family with the most members.
    let leading: Int
    /// The reduction of the number of recordings if every deletion that the class accepts belongs to it.
    private(set) var losses = 0
    /// The hints of all members; see ``Member/hints``.
    private let hints: Set<UInt8>?

    init(_ indices: [Int], of members: [Member], _ deletions: [Deletion]) {
      self.members = indices.sorted { members[$0].isShownBefore(members[$1]) }
      let held = indices.map { members[$0].family }.counts
      things = held.max() ?? 0
      leading = held.firstIndex(of: things) ?? 0
      hints = indices.reduce([]) { hints, index in members[index].hints.flatMap { hints?.union($0) } }
      let deleted = deletions.filter(accepts).byFamily
      let ever = zip(held, deleted).map { $0 + $1 }.max() ?? 0
      losses = things - max(0, ever - (deleted.max() ?? 0))
    }

    func accepts(_ deletion: Deletion) -> Bool { CountingRule.accepts(deletion, hints) }
  }
}

extension CountingRule.Member {
  /// Returns whether this sample is shown before another. Exported samples come first.
  func isShownBefore(_ other: Self) -> Bool {
    (family.rawValue, uuid) < (other.family.rawValue, other.uuid)
  }
}

extension [CountingRule.Family] {
  /// The number of elements of each family.
  fileprivate var counts: [Int] {
    CountingRule.Family.allCases.map { family in count { $0 == family } }
  }
}

extension [CountingRule.Deletion] {
  fileprivate var byFamily: [Int] { map(\.family).counts }
}
