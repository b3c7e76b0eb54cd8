import Cryptography
import Foundation
import GRDB
import HealthModel

/// One import of a file.
public struct ImportRecord: Hashable, Sendable {
  /// What is known of the file before it is read.
  public struct File: Hashable, Sendable {
    /// For people: its last path component.
    public var name: String
    /// When the phone made it.
    public var exported: Timestamp?
    /// What tells one person's exports from another's, such as the date of birth; only a hash of it is stored.
    public var person: [String]?
    /// Whose it is, if somebody confirmed that it belongs here although the store says otherwise; likewise.
    public var confirmed: Person?

    /// `nil` stands for what the file does not say.
    public init(name: String, exported: Timestamp? = nil, person: [String]? = nil, confirmed: Person? = nil) {
      self.name = name
      self.exported = exported
      self.person = person
      self.confirmed = confirmed
    }
  }

  /// The file's last path component, for people.
  public var name: String
  /// By this machine's clock.
  public var started: Timestamp
  /// `nil` for one that was interrupted.
  public var finished: Timestamp?
  /// When the phone made the export; `nil` where the file does not say.
  public var exported: Timestamp?
  /// Whether the file was whole.
  public var isComplete: Bool
  /// Whether what earlier exports had and this one lacked was deleted.
  public var isSnapshot: Bool
  /// Whether no export was imported after it: what it lacks is not here then.
  public var isLatest: Bool
}

extension HealthStore.Imports {
  /// Whether an import has ever ended well here.
  public func hasFinished() async throws(StoreError) -> Bool {
    try await store.read { db in
      try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM import WHERE finished IS NOT NULL)") ?? false
    }
  }

  /// An import has ended well.
  ///
  /// - Parameters:
  ///   - id: of its ``ImportWriter``.
  ///   - digest: of what was read.
  ///   - isComplete: whether the file was whole.
  ///   - isSnapshot: whether ``ImportWriter/deleteMissing(of:)`` was called.
  public func finish(
    _ id: Int64, digest: Data?, isComplete: Bool, isSnapshot: Bool = false
  ) async throws(StoreError) {
    try await store.write { db in
      try db.execute(
        sql: "UPDATE import SET finished = ?, digest = ?, isComplete = ?, isSnapshot = ? WHERE id = ?",
        arguments: [store.now.microseconds, digest, isComplete, isSnapshot, id])
    }
  }

  /// The last import of a whole file with this digest, if it ended.
  public func finished(digest: Data) async throws(StoreError) -> ImportRecord? {
    try await store.read { db in
      try ImportRecord.fetch(db, "digest = ? AND finished IS NOT NULL AND isComplete ORDER BY id DESC", [digest])
    }
  }

  /// Of the whole exports that were imported, the one that the phone made last.
  public func newestExport() async throws(StoreError) -> ImportRecord? {
    try await store.read { db in
      try ImportRecord.fetch(
        db, "exported IS NOT NULL AND finished IS NOT NULL AND isComplete ORDER BY exported DESC, id DESC", [])
    }
  }

  /// Whether exports of somebody else than `person` were imported. False where nothing is known of either.
  public func hasExports(ofOthersThan person: [String]) async throws(StoreError) -> Bool {
    let (hash, earlier) = (store.hash(of: person), store.earlierHash(of: person))
    return try await store.read { db in
      try Bool.fetchOne(
        db, sql: "SELECT EXISTS(SELECT 1 FROM import WHERE finished IS NOT NULL AND person NOT IN (?, ?))",
        arguments: [hash, earlier]) ?? false
    }
  }

  /// Whether somebody has confirmed of an earlier import that what is of this person belongs here.
  ///
  /// - Parameter isFinished: whether that import must have ended well.
  public func hasConfirmed(_ person: Person, isFinished: Bool = false) async throws(StoreError) -> Bool {
    let fields = HealthStore.fields(of: person)
    let (hash, earlier) = (store.hash(of: fields), store.earlierHash(of: fields))
    return try await store.read { db in
      try Bool.fetchOne(
        db,
        sql: """
          SELECT EXISTS(
            SELECT 1 FROM import
            WHERE confirmedPerson IN (?, ?) \(isFinished ? "AND finished IS NOT NULL" : ""))
          """, arguments: [hash, earlier]) ?? false
    }
  }
}

extension HealthStore {
  func hash(of person: Person) -> Data { hash(of: Self.fields(of: person)) }

  static func fields(of person: Person) -> [String] {
    ["person"] + Person.Trait.allCases.map { person[$0] ?? "" }
  }

  /// Keyed with what all copies of the store have, also those that get another ``positionKey``.
  func hash(of person: [String]) -> Data { Self.hash(of: person, key: id.bytes) }

  /// The hash that development versions kept, keyed with ``positionKey``.
  func earlierHash(of person: [String]) -> Data { Self.hash(of: person, key: positionKey) }

  private static func hash(of person: [String], key: Data) -> Data {
    let text = person.joined(separator: "\u{1F}")
    return Data(HMAC.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: key)))
  }
}

extension ImportRecord {
  fileprivate static func fetch(
    _ db: Database, _ condition: String, _ arguments: StatementArguments
  ) throws -> ImportRecord? {
    try Row.fetchOne(
      db,
      sql: """
        SELECT name, started, finished, exported, isComplete, isSnapshot,
          NOT EXISTS(SELECT 1 FROM import AS later WHERE later.id > import.id)
        FROM import WHERE \(condition) LIMIT 1
        """, arguments: arguments
    ).map { row in
      ImportRecord(
        name: row[0], started: Timestamp(microseconds: row[1]),
        finished: (row[2] as Int64?).map(Timestamp.init(microseconds:)),
        exported: (row[3] as Int64?).map(Timestamp.init(microseconds:)), isComplete: row[4], isSnapshot: row[5],
        isLatest: row[6])
    }
  }
}

/// What earlier exports held and a later one does not.
public struct MissingSamples: Sendable {
  /// The number of missing samples by type.
  public var counts: [SampleType: Int] = [:]
  /// What became of the samples that the later one does hold.
  var read: [SampleType: WriteSummary.Counts] = [:]

  /// Nothing is missing.
  public init() {}

  /// The number of missing samples of all types.
  public var total: Int { counts.values.reduce(0, +) }

  /// The share of the samples of earlier exports that is missing, from 0 to 1.
  public var share: Double {
    let known = read.values.reduce(0) { $0 + $1.unchanged } + total
    return known == 0 ? 0 : Double(total) / Double(known)
  }

  /// Types of which nothing that was known is left.
  public var wholeTypes: [SampleType] {
    counts.keys.filter { (read[$0]?.unchanged ?? 0) == 0 }.sorted { $0.rawValue < $1.rawValue }
  }
}
