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
    /// HealthKit's own, from an app.
    case healthKit
    /// Health Auto Export's.
    case autoExport

    /// - Parameter road: by which a sample with this UUID came.
    init(_ uuid: UUID, road: SampleRoad) {
      self = uuid.isDerived ? road == .healthAutoExport ? .autoExport : .export : .healthKit
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
    let classes = Dictionary(grouping: members.indices) { members[$0].valueClass }.mapValues { indices in
      Class(members: indices.sorted { Self.isBefore(members[$0], members[$1]) }, of: members)
    }
    // What would be lost if each deletion were of every class: by no more than one of them can it be accounted for.
    let doubtful = classes.values.filter { losses(of: $0) > 0 }
    let deleted = self.deleted { deletion in doubtful.contains { $0.accepts(deletion) } }
    let most = deleted.max() ?? 0
    let isCertain =
      sum(doubtful) <= most
      && Family.allCases.allSatisfy { family in
        sum(doubtful.filter { $0.leading == family.rawValue }) <= most - deleted[family.rawValue]
      }
    return classes.values.reduce(into: []) { hidden, value in
      let lost = isCertain ? losses(of: value) : 0
      hidden.formUnion(value.members.dropFirst(value.things - lost))
    }
  }

  /// How many deletions there are that `isMeant`, by family.
  private func deleted(_ isMeant: (Deletion) -> Bool) -> [Int] {
    Family.allCases.map { family in deletions.count { $0.family == family && isMeant($0) } }
  }

  private struct Class {
    /// In the order in which they are shown.
    var members: [Int]
    /// By family.
    var held: [Int]
    /// How many there would be without deletions.
    var things: Int
    /// The index of the family that holds most.
    var leading: Int
    /// See ``Member/hints``.
    private var hints: Set<UInt8>? = []

    init(members indices: [Int], of members: [Member]) {
      self.members = indices
      let held = Family.allCases.map { family in indices.count { members[$0].family == family } }
      self.held = held
      things = held.max() ?? 0
      leading = held.firstIndex(of: things) ?? 0
      for index in indices { hints = members[index].hints.flatMap { hints?.union($0) } }
    }

    func accepts(_ deletion: Deletion) -> Bool {
      guard let hints, let hint = deletion.hint else { return true }
      return hints.contains(hint)
    }
  }

  private func sum(_ classes: [Class]) -> Int { classes.reduce(0) { $0 + losses(of: $1) } }

  private func losses(of value: Class) -> Int {
    let deleted = deleted(value.accepts)
    let ever = zip(value.held, deleted).map { $0 + $1 }.max() ?? 0
    return value.things - max(0, ever - (deleted.max() ?? 0))
  }

  private static func isBefore(_ one: Member, _ other: Member) -> Bool {
    if one.family != other.family { return one.family.rawValue < other.family.rawValue }
    return withUnsafeBytes(of: one.uuid.uuid) { mine in
      withUnsafeBytes(of: other.uuid.uuid) { mine.lexicographicallyPrecedes($0) }
    }
  }
}
