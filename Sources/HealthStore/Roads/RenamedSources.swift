/// Finds the sources of one moment that are one source, told of under another name by each road: a phone tells the new name of a
/// device also of all that it recorded before, and an export keeps the name of its day.
///
/// An app that tells of a moment tells all that the phone has of it, and so does an export. So where samples of exports have
/// names that no app tells there, and equal samples of apps have as many names that no export tells there, those are the same
/// samples. Where one side has more names than the other, nothing tells which is which, and they stay apart: a sample that is
/// shown twice is better than one that is lost.
enum RenamedSources {
  /// A sample of the moment, or a deletion.
  struct Bearer {
    /// The index of the name of its source.
    var name: UInt32
    var family: CountingRule.Family
    /// The classes of equal values: that of a sample, or all that a deletion may belong to.
    var classes: Set<Int>
  }

  /// Of more names on one side, which only a hostile machine sends, none are joined.
  private static let maximumNames = 16

  /// The one name to take for several, by each of those.
  ///
  /// - Parameter bearers: all samples and deletions whose start and end are equal to the second. Those from Health Auto
  ///   Export are ignored: it adds up several sources.
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
