/// A finder of sources that are one source with different names at one moment, depending on the road: after a device
/// is renamed, a phone reports the new name also for older samples, and an export keeps the name at that time.
///
/// For a moment, an app reports all samples of the phone, and so does an export. So if exported samples have names
/// that no app reports at that moment, and equal samples of apps have the same number of names that no export has,
/// they are the same samples. If one side has more names than the other, the assignment is unknown and they stay
/// separate: showing a sample twice is better than losing one.
enum RenamedSources {
  /// A sample or a deletion at the moment, with the name of its source.
  struct Bearer {
    /// The index of the source's name.
    var name: UInt32
    var family: CountingRule.Family
    /// The classes of equal values: the class of a sample, or all classes that a deletion may belong to.
    var classes: Set<Int>
  }

  /// The maximum number of names on one side. Only a malicious machine sends more, and then none are joined.
  private static let maximumNames = 16

  /// Returns the representative name for each name that is joined with others.
  ///
  /// - Parameter bearers: all samples and deletions whose start and end are equal to the second. Those from Health
  ///   Auto Export are ignored, because it adds up several sources.
  static func representatives(among bearers: [Bearer]) -> [UInt32: UInt32] {
    let bearers = Dictionary(grouping: bearers.filter { $0.family != .autoExport }, by: \.name)
    func names(onlyIn family: CountingRule.Family) -> [UInt32: Set<Int>] {
      bearers.filter { $0.value.allSatisfy { $0.family == family } }
        .mapValues { $0.reduce(into: []) { $0.formUnion($1.classes) } }
    }
    let (exported, told) = (names(onlyIn: .export), names(onlyIn: .healthKit))
    guard exported.count <= maximumNames, told.count <= maximumNames else { return [:] }
    func equals(_ classes: Set<Int>, in others: [UInt32: Set<Int>]) -> Set<UInt32> {
      Set(others.filter { !$0.value.isDisjoint(with: classes) }.keys)
    }
    let equalToExported = exported.mapValues { equals($0, in: told) }
    let equalToTold = told.mapValues { equals($0, in: exported) }
    var representatives: [UInt32: UInt32] = [:]
    for theirs in Set(equalToExported.values) {
      let ours = Set(equalToExported.filter { $0.value == theirs }.keys)
      guard let first = ours.min(), ours.count == theirs.count, theirs.allSatisfy({ equalToTold[$0] == ours })
      else { continue }
      for name in ours.union(theirs) { representatives[name] = first }
    }
    return representatives
  }
}
