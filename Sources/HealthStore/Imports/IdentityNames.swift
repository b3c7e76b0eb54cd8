import GRDB
import HealthModel

extension HealthStore.Imports {
  /// The names that the identities of an export's records are made with, for sources that bore other names in earlier
  /// exports: a person who renames a watch renames all that it ever recorded, and identities hold the name.
  ///
  /// What the records say decides, not the names: a new phone may bear the name of the old one, and two devices may have
  /// changed theirs. A source has the identity under which most of those of its records are known that are known at all.
  /// One of which nothing is known keeps its name, or what it had as its identity before; so several sources may be one
  /// to identities, and their records are told apart as twins are.
  ///
  /// - Parameters:
  ///   - sources: some records of each source of the export, by its name there.
  ///   - remembers: whether the names are kept, as they are when the export is imported.
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
          // Of records that several sources have, the one that bears the name is the one that is known.
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

/// How many records of one source of an export are known under which identity.
private struct IdentityVotes {
  /// One record in so many may say another number than the one that is known, as twins do.
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

  /// - Parameter alias: the identity that the source had before.
  func winner(remembered alias: String?) -> String {
    let mine = [name, alias].compactMap(\.self)
    let best = agreeing.filter { isCredible($0.key) }.max { a, b in
      if a.value != b.value { return a.value < b.value }
      let (rankA, rankB) = (mine.firstIndex(of: a.key) ?? mine.count, mine.firstIndex(of: b.key) ?? mine.count)
      return rankA == rankB ? a.key > b.key : rankA > rankB
    }
    return best?.key ?? alias.flatMap { isCredible($0) ? $0 : nil } ?? name
  }

  /// Whether the records are those that are known under another name: a record that takes the identity of one that says
  /// something else would be lost.
  private func isCredible(_ identity: String) -> Bool {
    identity == name || contradicting[identity, default: 0] * Self.tolerance <= agreeing[identity, default: 0]
  }
}
