import Foundation
import HealthModel

/// Decides which samples of one group are hidden, because another that came by another road says the same.
///
/// A group has one type, one source name, and the same whole seconds of start and end. Within it, samples with equal values are a
/// class. Each family of identities counts the things of a class by itself, and each thing once: so the largest count is how
/// many there are, and the largest count of deletions how many of them are gone,
///
///     shown = max(held + deleted, of each family) - max(deleted, of each family)
///
/// Exported samples are shown first, because they say most, then those with HealthKit's UUIDs, each by UUID. What is shown
/// is a function of the samples and tombstones of the group and of nothing else, so that machines which hold the same show
/// the same.
///
/// A deletion says little of the value that was deleted (``Tombstone/hint``). Where several classes could be meant, and not all of
/// them can, none is hidden: a sample that is shown although it was deleted is better than one that is lost.
struct CountingRule {
  /// Those who give a thing an identity of their own.
  enum Family: Int, CaseIterable {
    /// Derived by hpeer from what an export says.
    case export
    /// HealthKit's own, from an app. Some are of version 5, as if derived: whoever wrote the sample chose it.
    case healthKit
    /// Health Auto Export's.
    case autoExport

    /// - Parameter road: by which a sample with this UUID came.
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
    /// Equal for samples of one class.
    var valueClass: Int
    /// The hints that a deletion of it can have; `nil` for any.
    var hints: Set<UInt8>?
  }

  /// Whether a deletion may be of what has these hints; see ``Member/hints``.
  static func accepts(_ deletion: Deletion, _ hints: Set<UInt8>?) -> Bool {
    guard let hints, let hint = deletion.hint else { return true }
    return hints.contains(hint)
  }

  /// What is known of a deleted sample of the group.
  struct Deletion {
    var family: Family
    var hint: UInt8?
  }

  private let deletions: [Deletion]

  /// - Parameter deletions: of the group.
  init(_ deletions: [Deletion]) {
    self.deletions = deletions
  }

  /// The indices of the members that are hidden.
  func hidden(_ members: [Member]) -> Set<Int> {
    let classes = Dictionary(grouping: members.indices) { members[$0].valueClass }.values.map {
      Class($0, of: members, deletions)
    }
    // What would be lost if each deletion were of every class: by no more than one of them can it be accounted for.
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
    /// Indices, in the order in which they are shown.
    let members: [Int]
    /// How many there would be without deletions.
    let things: Int
    /// The index of the family that holds most.
    let leading: Int
    /// How many fewer there are if every deletion that it accepts is its own.
    private(set) var losses = 0
    /// See ``Member/hints``.
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
  /// Those of exports are shown first.
  func isShownBefore(_ other: Self) -> Bool {
    (family.rawValue, uuid) < (other.family.rawValue, other.uuid)
  }
}

extension [CountingRule.Family] {
  /// How many there are of each.
  fileprivate var counts: [Int] {
    CountingRule.Family.allCases.map { family in count { $0 == family } }
  }
}

extension [CountingRule.Deletion] {
  fileprivate var byFamily: [Int] { map(\.family).counts }
}
