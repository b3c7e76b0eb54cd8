import Foundation
import GRDB
import HealthModel

/// A verifier of the audit log that finds the events that are not as written, within one read transaction.
///
/// A hash covers exactly (previous hash, number, content), and each row contains the previous hash. Therefore each
/// row proves on its own whether it was written under its number or under another one. A sequence of consistent rows
/// may still have been recomputed: then the row after it, or the saved end of the log, contains another hash than its
/// last row has.
struct AuditVerifier {
  /// The maximum number of damaged rows that are examined. Further rows are only counted.
  private static let closely = 32

  private let db: Database
  private let ends: AuditEnds
  private var rows = 0
  private var suspects: [AuditChain.Link] = []
  private var more = 0
  /// The ranges of event numbers without a row.
  private var gaps: [ClosedRange<Int64>] = []
  /// Consistent rows that differ from what the next row requires, with the hash that it requires.
  private var denied: [(row: AuditChain.Link, hash: Data)] = []

  static func verify(_ db: Database) throws -> AuditVerification {
    var verifier = AuditVerifier(db, ends: try AuditEnds.fetch(db))
    try verifier.walk()
    let pruning = try verifier.pruning()
    let damage = try pruning + verifier.explain() + verifier.rewritten() + OpenReads.damage(db)
    guard damage.isEmpty else { return .broken(damage.sorted { $0.event < $1.event }) }
    return .intact(rows: verifier.rows, pruned: Int(verifier.ends.pruned.id))
  }

  private init(_ db: Database, ends: AuditEnds) {
    self.db = db
    self.ends = ends
  }

  private mutating func walk() throws {
    var last = ends.pruned.id
    /// The previous row, if it is consistent.
    var before: AuditChain.Link?
    let cursor = try Row.fetchCursor(db, sql: "SELECT \(AuditChain.Link.columns) FROM audit ORDER BY id")
    while let row = try cursor.next() {
      let row = AuditChain.Link(row)
      rows += 1
      guard isWithin(row) else {
        suspect(row)
        continue
      }
      let isNext = row.id == last + 1
      if !isNext { gaps.append(last + 1...row.id - 1) }
      let isSound = row.isEvent(row.id)
      if !isSound {
        suspect(row)
      } else if isNext, last == ends.pruned.id {
        // The saved hash of the last pruned event confirms the beginning.
        if row.previous != ends.pruned.hash { suspect(row) }
      } else if isNext, let before, row.previous != before.hash {
        deny(before, row.previous)
      }
      before = isSound ? row : nil
      last = row.id
    }
    if last < ends.last.id { gaps.append(last + 1...ends.last.id) }
    if let before, before.id == ends.last.id, before.hash != ends.last.hash { deny(before, ends.last.hash) }
  }

  private func isWithin(_ row: AuditChain.Link) -> Bool { row.id > ends.pruned.id && row.id <= ends.last.id }

  private mutating func suspect(_ row: AuditChain.Link) {
    if suspects.count < Self.closely { suspects.append(row) } else { more += 1 }
  }

  private mutating func deny(_ row: AuditChain.Link, _ hash: Data) {
    // A row that was not written as it is cannot discredit the row before it.
    if let other = denied.last?.row, other.id == row.id - 1 { denied.removeLast() }
    if denied.count < Self.closely { denied.append((row, hash)) } else { more += 1 }
  }

  /// Returns the damage at the beginning of the log. The newest `audit.pruned` must agree with the saved beginning:
  /// an attacker who removes the first events and moves the beginning would also have to change that event, which the
  /// chain covers.
  private func pruning() throws -> [AuditDamage] {
    let detail = try String.fetchOne(
      db, sql: "SELECT detail FROM audit WHERE event = ? ORDER BY id DESC LIMIT 1",
      arguments: [AuditEvent.Name.auditPruned.rawValue])
    let said = detail.flatMap { try? StoreJSON.decode([String: String].self, $0) }
    if ends.pruned.id == 0, ends.pruned.hash.isEmpty, detail == nil { return [] }
    if let said, said["to"] == String(ends.pruned.id), said["hash"] == RadixCoding.hex.encode(ends.pruned.hash) {
      return []
    }
    return [.pruningNotRecorded(upTo: ends.pruned.id)]
  }

  /// Returns the damage of recomputed rows. If the row before them still exists, the rows after it were inserted.
  private func rewritten() throws -> [AuditDamage] {
    try denied.flatMap { row, hash -> [AuditDamage] in
      let followed = try Int64.fetchOne(
        db, sql: "SELECT id FROM audit WHERE hash = ? AND id < ?", arguments: [hash, row.id])
      guard let followed, row.id - followed <= Self.closely else { return [.rewritten(upTo: row.id)] }
      return (followed + 1...row.id).map { .inserted($0) }
    }
  }

  private func explain() -> [AuditDamage] {
    var damage: [AuditDamage] = more > 0 ? [.more(more)] : []
    let written = identified()
    let elsewhere = Set(written.filter { $0.key != $0.value }.values)
    let vacant = { (id: Int64) in
      gaps.contains { $0.contains(id) } || suspects.contains { $0.id == id }
    }
    for row in suspects {
      switch written[row.id] {
      case let event? where event != row.id && vacant(event):
        damage.append(.moved(event: event, to: row.id))
        if isWithin(row), !elsewhere.contains(row.id) { damage.append(.missing(row.id...row.id)) }
      case nil where isWithin(row) && !elsewhere.contains(row.id), row.id? where isWithin(row):
        damage.append(.changed(row.id))
      default: damage.append(.inserted(row.id))
      }
    }
    for gap in gaps {
      // The parts of the gap between events that were moved.
      var first = gap.lowerBound
      for event in elsewhere.filter(gap.contains).sorted() {
        if first < event { damage.append(.missing(first...event - 1)) }
        first = event + 1
      }
      if first <= gap.upperBound { damage.append(.missing(first...gap.upperBound)) }
    }
    return damage
  }

  /// Returns the event number under which each damaged row was written, by the row's number. A row that was never
  /// written in this form has none.
  private func identified() -> [Int64: Int64] {
    let numbers = suspects.map(\.id) + gaps.prefix(Self.closely).flatMap { $0.prefix(Self.closely) }
    var written: [Int64: Int64] = [:]
    for row in suspects { written[row.id] = ([row.id] + numbers).first(where: row.isEvent) }
    return written
  }
}
