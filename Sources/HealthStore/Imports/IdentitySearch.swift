import Foundation
import GRDB
import HealthModel

/// A finder of the source names from which the identities of known records were derived.
///
/// The name that a sample shows can be newer. The UUID proves which name was used.
struct IdentitySearch {
  /// A known record that equals another except for its source.
  struct Found {
    /// The source name from which the record's identity was derived.
    var name: String
    /// Whether the two records have different values.
    var isContradicted: Bool
  }

  private struct Known {
    /// The name that the sample shows, or `nil` if it is deleted.
    var shown: String?
    var value: Quantity?
  }

  /// The maximum number of samples with one type and start, and of names, that are tried. Only a malicious store has
  /// more.
  private static let rowLimit = 100
  private static let nameLimit = 256

  private let db: Database
  /// The identity of each renamed source in the last export that contained it, by its name there.
  private(set) var aliases: [String: String] = [:]
  private var units = StoredDictionary.units
  private var sources = StoredDictionary.sourceNames
  /// All source names from which an identity may be derived, read when first needed.
  private var names: [String]?

  init(_ db: Database) throws {
    self.db = db
    try Binding(db, "SELECT name, identity FROM sourceAlias").rows(db) { row in
      if let name = row.text(0) { aliases[name] = row.text(1) }
      return true
    }
  }

  /// Records the identity of a source.
  ///
  /// - Parameter remembers: whether to save it in the store.
  mutating func learn(_ identity: String, of name: String, remembers: Bool) throws {
    if (aliases[name] ?? name).isExactly(identity) { return }
    if remembers { try UndoJournal.changes(alias: name, from: aliases[name], db) }
    aliases[name] = identity.isExactly(name) ? nil : identity
    if !remembers { return }
    var removal = try Binding(db, "DELETE FROM sourceAlias WHERE name = ?")
    removal.bind(name)
    try removal.run(db)
    if identity.isExactly(name) { return }
    var statement = try Binding(db, "INSERT INTO sourceAlias(name, identity) VALUES (?, ?)")
    statement.bind(name)
    statement.bind(identity)
    try statement.run(db)
  }

  /// Returns the known or deleted records of the store that equal `record` except for their source.
  mutating func identities(of record: SampledRecord) throws -> [Found] {
    var known = try known(record.key)
    if known.isEmpty { return [] }
    var found: [Found] = []
    var tried: Set<String> = []
    func prove(_ name: String) {
      guard !known.isEmpty, tried.insert(name).inserted else { return }
      var key = record.key
      key.source = name
      guard let match = known.removeValue(forKey: key.uuid(ordinal: 0)) else { return }
      found.append(Found(name: name, isContradicted: record.contradicts(match.value)))
    }
    let shown = known.values.compactMap(\.shown).sorted() + [record.key.source]
    for name in shown { prove(name) }
    for name in shown { if let alias = aliases[name] { prove(alias) } }
    if !known.isEmpty {
      for name in try allNames() { prove(name) }
    }
    return found
  }

  /// Returns samples from exports, and deleted samples that may be such, by UUID.
  private mutating func known(_ key: SampleKey) throws -> [UUID: Known] {
    guard let type = try key.type.id(in: db) else { return [:] }
    let start = Timestamp(seconds: key.start).microseconds
    var known: [UUID: Known] = [:]
    var graves = try Binding(db, "SELECT uuid FROM tombstone WHERE type = ? AND start = ? ORDER BY uuid LIMIT ?")
    graves.bind(type)
    graves.bind(start)
    graves.bind(Int64(Self.rowLimit))
    try graves.rows(db) { row in
      let uuid = try row.uuid(0)
      if uuid.isDerived { known[uuid] = Known() }
      return true
    }
    var samples = try Binding(
      db,
      """
      SELECT uuid, duration, created, source, value, unit FROM sample WHERE type = ? AND start = ?
      ORDER BY uuid LIMIT ?
      """)
    samples.bind(type)
    samples.bind(start)
    samples.bind(Int64(Self.rowLimit))
    try samples.rows(db) { row in
      let uuid = try row.uuid(0)
      guard uuid.isDerived, Timestamp(microseconds: start &+ row.integer(1)).seconds == key.end,
        row.optionalInteger(2).map({ Timestamp(microseconds: start &+ $0).seconds }) == key.created
      else { return true }
      let unit = try row.optionalInteger(5).map { try units.value(of: $0, db) } ?? ""
      known[uuid] = Known(
        shown: try sources.value(of: row.integer(3), db), value: row.optionalDouble(4).map { Quantity($0, unit) })
      return true
    }
    return known
  }

  private mutating func allNames() throws -> [String] {
    if let names { return names }
    var all = Set(aliases.values)
    try Binding(db, "SELECT json FROM source").rows(db) { row in
      if let json = row.text(0) { all.insert(try StoreJSON.decode(Source.self, json).name) }
      return true
    }
    let names = Array(all.sorted().prefix(Self.nameLimit))
    self.names = names
    return names
  }
}
