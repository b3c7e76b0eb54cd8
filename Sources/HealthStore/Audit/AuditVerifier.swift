import Foundation
import GRDB

/// Walks along the audit log and says which events are not what was written, within one read transaction.
///
/// A hash covers exactly (hash before, number, content). So a row that does not fit where it stands still tells which
/// event it was, if the hash before it can be found among those of its neighbours and of the other rows that do not fit.
struct AuditVerifier {
  /// Rows that are looked at closely; of more, the number is told.
  private static let closely = 32

  private let db: Database
  private let ends: AuditEnds
  private var rows = 0
  private var suspects: [(row: AuditChain.Link, before: Data)] = []
  private var more = 0
  /// Numbers without a row, each with the hash before it.
  private var gaps: [(ids: ClosedRange<Int64>, before: Data)] = []

  static func verify(_ db: Database) throws -> AuditVerification {
    var verifier = AuditVerifier(db, ends: try AuditEnds.fetch(db))
    try verifier.walk()
    let damage = try verifier.pruning() + verifier.explain()
    guard damage.isEmpty else { return .broken(damage.sorted { $0.event < $1.event }) }
    return .intact(rows: verifier.rows, pruned: Int(verifier.ends.pruned.id))
  }

  private init(_ db: Database, ends: AuditEnds) {
    self.db = db
    self.ends = ends
  }

  private mutating func walk() throws {
    var previous = ends.pruned.hash
    var expected = ends.pruned.id + 1
    let cursor = try Row.fetchCursor(db, sql: "SELECT \(AuditChain.Link.columns) FROM audit ORDER BY id")
    while let row = try cursor.next() {
      let row = AuditChain.Link(row)
      rows += 1
      if row.id < expected || row.id > ends.last.id {
        suspect(row, before: previous)
        if row.id < expected { continue }
      } else if row.id > expected {
        // What came before this row is gone, and with it what would prove it; the next row vouches for its hash.
        gaps.append((expected...row.id - 1, previous))
      } else if row.hash(after: previous) != row.hash || (row.id == ends.last.id && row.hash != ends.last.hash) {
        suspect(row, before: previous)
      }
      if row.id > ends.last.id { break }
      previous = row.hash
      expected = row.id + 1
    }
    while let row = try cursor.next() {
      rows += 1
      suspect(AuditChain.Link(row), before: previous)
    }
    if expected <= ends.last.id { gaps.append((expected...ends.last.id, previous)) }
  }

  private mutating func suspect(_ row: AuditChain.Link, before previous: Data) {
    if suspects.count < Self.closely { suspects.append((row, previous)) } else { more += 1 }
  }

  /// The newest `audit.pruned` must say what the beginning says: whoever cuts events off the front and moves the
  /// beginning after them would have to change that event, too, which the chain covers.
  private func pruning() throws -> [AuditDamage] {
    let detail = try String.fetchOne(
      db, sql: "SELECT detail FROM audit WHERE event = ? ORDER BY id DESC LIMIT 1",
      arguments: [AuditEvent.Name.auditPruned.rawValue])
    let said = detail.flatMap { try? StoreJSON.decode([String: String].self, $0) }
    if ends.pruned.id == 0, detail == nil { return [] }
    if let said, said["to"] == String(ends.pruned.id), said["hash"] == ends.pruned.hash.hex { return [] }
    return [.pruningNotRecorded(upTo: ends.pruned.id)]
  }

  private func explain() -> [AuditDamage] {
    var damage: [AuditDamage] = more > 0 ? [.more(more)] : []
    let written = identified()
    let elsewhere = Set(written.filter { $0.key != $0.value }.values)
    let vacant = { (id: Int64) in
      gaps.contains { $0.ids.contains(id) } || suspects.contains { $0.row.id == id }
    }
    for (row, _) in suspects {
      let isWithin = row.id > ends.pruned.id && row.id <= ends.last.id
      switch written[row.id] {
      case row.id? where isWithin: break
      case let event? where event != row.id && vacant(event):
        damage.append(.moved(event: event, to: row.id))
        if isWithin, !elsewhere.contains(row.id) { damage.append(.missing(row.id...row.id)) }
      case nil where isWithin && !elsewhere.contains(row.id): damage.append(.changed(row.id))
      default: damage.append(.inserted(row.id))
      }
    }
    for gap in gaps {
      // The parts of the gap between the events that stand elsewhere.
      var first = gap.ids.lowerBound
      for event in elsewhere.filter(gap.ids.contains).sorted() {
        if first < event { damage.append(.missing(first...event - 1)) }
        first = event + 1
      }
      if first <= gap.ids.upperBound { damage.append(.missing(first...gap.ids.upperBound)) }
    }
    return damage
  }

  /// Which event each row that does not fit was written as, by the row's number; none for one that was not written like
  /// this.
  private func identified() -> [Int64: Int64] {
    let near = gaps.prefix(Self.closely)
    var hashes: Set<Data> = [ends.pruned.hash]
    for (row, before) in suspects { hashes.formUnion([row.hash, before, row.hash(after: before)]) }
    for gap in near { hashes.insert(gap.before) }
    let numbers = suspects.map(\.row.id) + near.flatMap { $0.ids.prefix(Self.closely) }
    var written: [Int64: Int64] = [:]
    for (row, _) in suspects {
      written[row.id] = ([row.id] + numbers).first { number in
        hashes.contains { row.hash(after: $0, as: number) == row.hash }
      }
    }
    return written
  }
}

extension Data {
  var hex: String { map { String(format: "%02x", $0) }.joined() }
}
