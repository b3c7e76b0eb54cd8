import GRDB
import HealthModel

extension HealthStore {
  /// The names under which the sources of an export are known here, for those that were renamed since: a person who
  /// renames a watch renames all that it ever recorded, and identities hold the name.
  ///
  /// A source was renamed if most of its records are known under a name that the export does not have.
  ///
  /// - Parameter sources: some records of each source of the export, by its name there.
  /// - Returns: the name in identities by the name in the export, where they differ.
  public func identityNames(for sources: [String: [SampleKey]]) async throws(StoreError) -> [String: String] {
    try await write { db in
      var known = try Self.aliases(db)
      let names = Set(sources.keys)
      for (name, keys) in sources.sorted(by: { $0.key < $1.key }) where known[name] == nil {
        guard let identity = try Self.identityName(of: name, keys, others: names, db) else { continue }
        known[name] = identity
        var statement = try Binding(db, "INSERT INTO sourceAlias(name, identity) VALUES (?, ?)")
        statement.bind(name)
        statement.bind(identity)
        try statement.run(db)
      }
      return known.filter { names.contains($0.key) }
    }
  }

  private static func aliases(_ db: Database) throws -> [String: String] {
    var aliases: [String: String] = [:]
    try Binding(db, "SELECT name, identity FROM sourceAlias").rows(db) { row in
      if let name = row.text(0) { aliases[name] = row.text(1) }
      return true
    }
    return aliases
  }

  private static func identityName(
    of name: String, _ keys: [SampleKey], others names: Set<String>, _ db: Database
  ) throws -> String? {
    var votes: [String: Int] = [:]
    var own = 0
    for key in keys {
      let found = try known(key, db)
      if found.contains(name) {
        own += 1
      } else {
        for other in found where !names.contains(other) { votes[other, default: 0] += 1 }
      }
    }
    guard let (best, count) = votes.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return nil }
    return count > own ? try aliases(db)[best] ?? best : nil
  }

  /// The names of the sources of records that agree with `key` in all but the source, and that an export brought.
  private static func known(_ key: SampleKey, _ db: Database) throws -> Set<String> {
    guard let type = try key.type.id(in: db) else { return [] }
    let start = Timestamp(seconds: key.start).microseconds
    var query = try Binding(
      db, "SELECT source, uuid, duration, created FROM sample WHERE type = ? AND start = ? ORDER BY uuid LIMIT 100")
    query.bind(type)
    query.bind(start)
    var sources = StoredDictionary("SELECT json FROM source WHERE id = ?") {
      try StoreJSON.decode(Source.self, $0).name
    }
    var found: Set<String> = []
    try query.rows(db) { row in
      let created = row.optionalInteger(3).map { Timestamp(microseconds: start &+ $0).seconds }
      if try row.uuid(1).isDerived, Timestamp(microseconds: start &+ row.integer(2)).seconds == key.end,
        created == key.created
      {
        found.insert(try sources.value(of: row.integer(0), db))
      }
      return true
    }
    return found
  }
}
