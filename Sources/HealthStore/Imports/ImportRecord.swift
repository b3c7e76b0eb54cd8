import Cryptography
import Foundation
import GRDB
import HealthModel

/// An import of a file.
public struct ImportRecord: Hashable, Sendable {
  /// The properties of a file that are known before it is read.
  public struct File: Hashable, Sendable {
    /// The file's last path component, for display.
    public var name: String
    /// The time at which the phone made the export.
    public var exported: Timestamp?
    /// The values that identify the person of an export, such as the date of birth. The store saves only a hash.
    public var person: [String]?
    /// The person of the file, if a user confirmed that it belongs to a store of another person. The store saves only
    /// a hash.
    public var confirmed: Person?

    /// Creates a file. `nil` means that the file does not contain the value.
    public init(name: String, exported: Timestamp? = nil, person: [String]? = nil, confirmed: Person? = nil) {
      self.name = name
      self.exported = exported
      self.person = person
      self.confirmed = confirmed
    }
  }

  /// The file's last path component, for display.
  public var name: String
  /// The time at which the import began, by this machine's clock.
  public var started: Timestamp
  /// The time at which the import ended, or `nil` if it was interrupted.
  public var finished: Timestamp?
  /// The time at which the phone made the export, or `nil` if the file does not contain it.
  public var exported: Timestamp?
  /// Whether the file was complete.
  public var isComplete: Bool
  /// Whether the import deleted samples of earlier exports that this export lacked.
  public var isSnapshot: Bool
  /// Whether no import followed this one. If one did, samples that this file has may be missing from the store.
  public var isLatest: Bool
}

extension HealthStore.Imports {
  /// Returns whether any import has ended successfully.
  public func hasFinished() async throws(StoreError) -> Bool {
    try await store.read { db in
      try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM import WHERE finished IS NOT NULL)") ?? false
    }
  }

  /// Records that an import has ended successfully.
  ///
  /// - Parameters:
  ///   - id: the id of its ``ImportWriter``.
  ///   - digest: the digest of the data that was read.
  ///   - isComplete: whether the file was complete.
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

  /// Returns the last finished import of a complete file with this digest.
  public func finished(digest: Data) async throws(StoreError) -> ImportRecord? {
    try await store.read { db in
      try ImportRecord.fetch(db, "digest = ? AND finished IS NOT NULL AND isComplete ORDER BY id DESC", [digest])
    }
  }

  /// Returns the imported export that the phone made last, among complete exports.
  public func newestExport() async throws(StoreError) -> ImportRecord? {
    try await store.read { db in
      try ImportRecord.fetch(
        db, "exported IS NOT NULL AND finished IS NOT NULL AND isComplete ORDER BY exported DESC, id DESC", [])
    }
  }

  /// Returns whether exports of a person other than `person` were imported. Exports without a known person do not
  /// count.
  public func hasExports(ofOthersThan person: [String]) async throws(StoreError) -> Bool {
    let (hash, earlier) = (store.hash(of: person), store.earlierHash(of: person))
    return try await store.read { db in
      try Bool.fetchOne(
        db, sql: "SELECT EXISTS(SELECT 1 FROM import WHERE finished IS NOT NULL AND person NOT IN (?, ?))",
        arguments: [hash, earlier]) ?? false
    }
  }

  /// Returns whether a user has confirmed in an earlier import that records of this person belong to this store.
  ///
  /// - Parameter isFinished: whether that import must have ended successfully.
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

/// The samples of earlier exports that are missing from a later one.
public struct MissingSamples: Sendable {
  /// The number of missing samples by type.
  public var counts: [SampleType: Int] = [:]
  /// The counts of the samples that the later export contains.
  var read: [SampleType: WriteSummary.Counts] = [:]

  /// Creates an empty result.
  public init() {}

  /// The number of missing samples of all types.
  public var total: Int { counts.values.reduce(0, +) }

  /// The share of the samples of earlier exports that is missing, from 0 to 1.
  public var share: Double {
    let known = read.values.reduce(0) { $0 + $1.unchanged } + total
    return known == 0 ? 0 : Double(total) / Double(known)
  }

  /// The types of which no known sample is left.
  public var wholeTypes: [SampleType] {
    counts.keys.filter { (read[$0]?.unchanged ?? 0) == 0 }.sorted { $0.rawValue < $1.rawValue }
  }
}
