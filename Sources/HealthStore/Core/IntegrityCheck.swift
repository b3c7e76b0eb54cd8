import GRDB
import HealthModel

/// The individual checks of ``HealthStore/checkIntegrity(directory:depth:)``, run in one read transaction.
struct IntegrityCheck {
  private let db: Database
  private(set) var findings: [StoreFinding] = []

  init(_ db: Database) {
    self.db = db
  }

  mutating func run(_ depth: HealthStore.CheckDepth) throws {
    // An unreadable page ends its check, but not the checks of other tables.
    let checks =
      switch depth {
      case .pages: [Self.quickPages, Self.opening]
      // An older store is completed and repaired when it is opened.
      case .everything where try !Schema.isCurrent(db): [Self.pages]
      case .everything:
        [
          Self.pages, Self.opening, Self.counts, Self.derivedCounts, Self.counter, Self.identities, Self.references,
          Self.visibility, Self.digests, Self.audit,
        ]
      }
    for check in checks {
      do {
        findings += try check(db)
      } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
        let finding = StoreFinding.damagedPages(error.message ?? "a page cannot be read")
        if !findings.contains(finding) { findings.append(finding) }
      }
    }
  }

  private static func pages(_ db: Database) throws -> [StoreFinding] { try damage("integrity_check", db) }

  private static func quickPages(_ db: Database) throws -> [StoreFinding] { try damage("quick_check", db) }

  /// Reads the values that opening a store requires.
  private static func opening(_ db: Database) throws -> [StoreFinding] {
    // An older store gets missing values when it is opened.
    guard try Schema.isCurrent(db) else { return [] }
    _ = try Schema.storeID(db)
    _ = try Schema.positionKey(db)
    _ = try EpochKeeper(db)
    return []
  }

  /// Returns the damage that a pragma of SQLite reports.
  ///
  /// - Parameter pragma: https://www.sqlite.org/pragma.html#pragma_integrity_check.
  private static func damage(_ pragma: String, _ db: Database) throws -> [StoreFinding] {
    try String.fetchAll(db, sql: "PRAGMA \(pragma)(20)").flatMap { $0.split(separator: "\n") }
      .filter { $0 != "ok" && !$0.hasPrefix("***") }.map { .damagedPages(String($0)) }
  }

  private static func counts(_ db: Database) throws -> [StoreFinding] {
    let types = TypeNames(db)
    return try Row.fetchAll(
      db,
      sql: """
        SELECT id, samples, counted FROM
          (SELECT id, samples, (SELECT COUNT(*) FROM sample WHERE sample.type = type.id) AS counted FROM type)
        WHERE samples <> counted ORDER BY id
        """
    ).map { .wrongCount(type: try types.name($0[0]), kept: $0[1], counted: $0[2]) }
  }

  private static func derivedCounts(_ db: Database) throws -> [StoreFinding] {
    let types = TypeNames(db)
    return try Row.fetchAll(
      db,
      sql: """
        SELECT id, derived, counted FROM (SELECT id, derived, (
          SELECT COUNT(*) FROM sample WHERE sample.type = type.id AND \(TypeTally.isDerived)) AS counted FROM type)
        WHERE derived <> counted ORDER BY id
        """
    ).map { .wrongDerivedCount(type: try types.name($0[0]), kept: $0[1], counted: $0[2]) }
  }

  private static func counter(_ db: Database) throws -> [StoreFinding] {
    let counter = try Schema.counter(db)
    let newest =
      try Int64.fetchOne(
        db,
        sql: """
          SELECT MAX(COALESCE((SELECT MAX(change) FROM sample), 0), COALESCE((SELECT MAX(change) FROM tombstone), 0))
          """) ?? 0
    return newest > counter ? [.counterBehind(counter: counter, newest: newest)] : []
  }

  private static func identities(_ db: Database) throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    let twice = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM tombstone JOIN sample USING (change)") ?? 0
    if twice > 0 { findings.append(.numbersTakenTwice(twice)) }
    let undead =
      try Int.fetchOne(
        db,
        sql: """
          SELECT COUNT(*) FROM tombstone JOIN sample USING (type, start, uuid) WHERE sample.statement IS NULL
          """) ?? 0
    if undead > 0 { findings.append(.aliveAndDeleted(undead)) }
    return findings
  }

  private static func references(_ db: Database) throws -> [StoreFinding] {
    try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .flatMap { try dangling(db, in: $0) }
  }

  /// Counts the rows of a table that violate its foreign keys, all of which refer to integer primary keys. Reads the
  /// table once.
  private static func dangling(_ db: Database, in table: String) throws -> [StoreFinding] {
    let keys = try Row.fetchAll(
      db, sql: "SELECT \"from\", \"table\" FROM pragma_foreign_key_list(?) ORDER BY id DESC", arguments: [table]
    ).map { (column: $0[0] as String, parent: $0[1] as String) }
    if keys.isEmpty { return [] }
    let sums = keys.map { "TOTAL(\($0.column) IS NOT NULL AND \($0.column) NOT IN (SELECT rowid FROM \($0.parent)))" }
    guard let row = try Row.fetchOne(db, sql: "SELECT \(sums.joined(separator: ", ")) FROM \(table)") else { return [] }
    return keys.map(\.column).enumerated().compactMap { index, column in
      let rows = Int(row[index] as Double)
      return rows > 0 ? .danglingReferences(table: table, column: column, rows: rows) : nil
    }
  }

  private static func visibility(_ db: Database) throws -> [StoreFinding] {
    var visibility = Visibility(db)
    let wrong = try visibility.countWrong()
    return wrong > 0 ? [.wrongVisibility(wrong)] : []
  }

  private static func digests(_ db: Database) throws -> [StoreFinding] {
    let position = try DigestTable.position(db)
    guard position > 0 else { return [] }
    let kept = try DigestTable.fetch(db, .everything).values
    var scan = DigestScan(db)
    try scan.changes(after: 0, upTo: position)
    let found = scan.sums.values
    let wrong = Set(kept.keys).union(found.keys).count { kept[$0] != found[$0] }
    return wrong > 0 ? [.wrongDigests(wrong)] : []
  }

  private static func audit(_ db: Database) throws -> [StoreFinding] {
    guard case .broken(let damage) = try AuditVerifier.verify(db) else { return [] }
    return damage.map { .audit($0) }
  }
}
