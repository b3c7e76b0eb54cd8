import Foundation
import GRDB
import HealthModel

/// Walks along the audit log and says which events are not what was written, within one read transaction.
///
/// A hash covers exactly (hash before, number, content), and a row says what the hash before was. So each row shows by
/// itself whether it is what was written under its number, or under another. Rows that all do may still have been
/// computed anew: then the row after them, or what is kept of the end, names another hash than the last of them has.
struct AuditVerifier {
  /// Rows that are looked at closely; of more, the number is told.
  private static let closely = 32

  private let db: Database
  private let ends: AuditEnds
  private var rows = 0
  private var suspects: [AuditChain.Link] = []
  private var more = 0
  /// Ranges of event numbers without a row.
  private var gaps: [ClosedRange<Int64>] = []
  /// Rows that are sound, and not what the row after them says was written; with the hash that it names.
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
    /// The row before, if it is sound.
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
        // The beginning is vouched for by what was written when it was pruned.
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
    // What a row says that is not what was written itself is worth nothing.
    if let other = denied.last?.row, other.id == row.id - 1 { denied.removeLast() }
    if denied.count < Self.closely { denied.append((row, hash)) } else { more += 1 }
  }

  /// The newest `audit.pruned` must say what the beginning says: whoever cuts events off the front and moves the
  /// beginning after them would have to change that event, too, which the chain covers.
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

  /// Where the row that a later one followed is still there, what stands between them was put in.
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
      // The parts of the gap between the events that stand elsewhere.
      var first = gap.lowerBound
      for event in elsewhere.filter(gap.contains).sorted() {
        if first < event { damage.append(.missing(first...event - 1)) }
        first = event + 1
      }
      if first <= gap.upperBound { damage.append(.missing(first...gap.upperBound)) }
    }
    return damage
  }

  /// Which event each row that does not fit was written as, by the row's number; none for one that was not written like
  /// this.
  private func identified() -> [Int64: Int64] {
    let numbers = suspects.map(\.id) + gaps.prefix(Self.closely).flatMap { $0.prefix(Self.closely) }
    var written: [Int64: Int64] = [:]
    for row in suspects { written[row.id] = ([row.id] + numbers).first(where: row.isEvent) }
    return written
  }
}
