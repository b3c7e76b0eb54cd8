import GRDB
import HealthModel

extension HealthStore.Imports {
  /// Returns the source names from which the identities of an export's records are derived, for sources that had
  /// other names in earlier exports. If a user renames a watch, all its recordings get the new name, but their
  /// identities contain the old one.
  ///
  /// The content of the records decides, not the names: a new phone may have the name of the old one, and two devices
  /// may have swapped names. A source keeps the identity under which most of its known records are known. A source
  /// without known records keeps its name, or its previous identity. Several sources may therefore share one
  /// identity, and their records are told apart as twins are.
  ///
  /// - Parameters:
  ///   - sources: some records of each source of the export, by its name there.
  ///   - remembers: whether to save the names, as an import does.
  /// - Returns: the name in identities by the name in the export, where they differ.
  public func identityNames(
    for sources: [String: [SampledRecord]], remembers: Bool = true
  ) async throws(StoreError) -> [String: String] {
    if remembers { return try await store.write { db in try Self.identityNames(for: sources, remembers: true, db) } }
    return try await store.read { db in try Self.identityNames(for: sources, remembers: false, db) }
  }

  private static func identityNames(
    for sources: [String: [SampledRecord]], remembers: Bool, _ db: Database
  ) throws -> [String: String] {
    var search = try IdentitySearch(db)
    var identities: [String: String] = [:]
    for (name, records) in sources.sorted(by: { $0.key < $1.key }) {
      var votes = IdentityVotes(name: name)
      for record in records {
        for found in try search.identities(of: record) {
          // If several sources have a record, the known record belongs to the source with its name.
          if record.isShared, found.name != name, sources[found.name] != nil { continue }
          votes.add(found, isShared: record.isShared)
        }
      }
      let identity = votes.winner(remembered: search.aliases[name])
      try search.learn(identity, of: name, remembers: remembers)
      if !identity.isExactly(name) { identities[name] = identity }
    }
    return identities
  }
}

/// The number of records of one source of an export by the identity under which they are known.
private struct IdentityVotes {
  /// The tolerated share of contradictions: one record in 32 may have another value than the known record, as twins
  /// do.
  private static let tolerance = 32

  let name: String
  private var agreeing: [String: Int] = [:]
  private var contradicting: [String: Int] = [:]

  init(name: String) { self.name = name }

  mutating func add(_ found: IdentitySearch.Found, isShared: Bool) {
    if !found.isContradicted {
      agreeing[found.name, default: 0] += 1
    } else if !isShared {
      contradicting[found.name, default: 0] += 1
    }
  }

  /// Returns the name with the most votes.
  ///
  /// - Parameter alias: the previous identity of the source.
  func winner(remembered alias: String?) -> String {
    let mine = [name, alias].compactMap(\.self)
    let best = agreeing.filter { isCredible($0.key) }.max { a, b in
      if a.value != b.value { return a.value < b.value }
      let (rankA, rankB) = (mine.firstIndex(of: a.key) ?? mine.count, mine.firstIndex(of: b.key) ?? mine.count)
      return rankA == rankB ? a.key > b.key : rankA > rankB
    }
    return best?.key ?? alias.flatMap { isCredible($0) ? $0 : nil } ?? name
  }

  /// Returns whether the records can be those that are known under another name. A wrong name would lose records,
  /// because they would get the identities of other records.
  private func isCredible(_ identity: String) -> Bool {
    identity == name || contradicting[identity, default: 0] * Self.tolerance <= agreeing[identity, default: 0]
  }
}
