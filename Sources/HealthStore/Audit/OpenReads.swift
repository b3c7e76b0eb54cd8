import Cryptography
import Foundation
import GRDB
import HealthModel

/// Counted reads of one peer and kind that are not in the chain yet. They become one event in the chain when their
/// minute is over, before any other event, and when a server starts.
///
/// Each row has a hash of its own. The exclusive or of all hashes is saved beside the end of the chain.
struct OpenReads {
  private var peer: String
  private var kind: String
  private var event: AuditEvent.Name
  /// The start of the peer's minute: see ``AuditRead/Moment``.
  private var session: Int64
  private var began: Int64
  /// The time of the last counted read.
  private var time: Timestamp
  /// The number of counted reads. 0 if there is only the event at the start of the minute, which is in the chain.
  private var times: Int64
  private var detail: [String: String]
  private var hash: Data

  /// An SQL expression: whether a text contains NUL, after which GRDB would not read on. hpeer writes no such texts
  /// and ignores them.
  private static let isSpoilt =
    "(" + ["peer", "kind", "event", "detail"].map { "instr(CAST(\($0) AS BLOB), x'00') > 0" }.joined(separator: " OR ")
    + ") AS isSpoilt"

  private static let columns = "peer, kind, event, session, began, time, times, detail, hash"

  /// Counts a read, or starts a minute with it.
  static func add(_ read: AuditRead, _ db: Database) throws {
    let kind = read.event.name.rawValue + read.kind
    let open = try fetch(db, where: "WHERE peer = ?", [read.peer])
    let isOver = open.contains { !$0.isRunning(at: read.moment) }
    if isOver { try seal(open, db) }
    if !isOver, var counted = open.first(where: { $0.kind == kind }) {
      // The hash of the content, not the stored one, so that a manipulation remains detectable.
      let before = try counted.ownHash()
      counted.count(read.event)
      try counted.write(instead: before, db)
      return
    }
    try AuditChain.link(read.event, db)
    guard read.moment.minute > 0 else { return }
    var begun = OpenReads(
      peer: read.peer, kind: kind, event: read.event.name, session: read.moment.session,
      began: isOver ? read.moment.elapsed : open.first?.began ?? read.moment.elapsed, time: read.event.time, times: 0,
      detail: [:], hash: Data())
    try begun.write(instead: nil, db)
  }

  /// Appends all counted reads to the chain as events.
  static func seal(_ db: Database) throws { try seal(fetch(db), db) }

  /// Appends the counted reads whose minute is over to the chain.
  static func sealOver(at moment: AuditRead.Moment, _ db: Database) throws {
    try seal(fetch(db).filter { !$0.isRunning(at: moment) }, db)
  }

  /// Returns the counted reads as the records that they would become now, with the number 0.
  static func records(_ db: Database) throws -> [AuditRecord] {
    try fetch(db).compactMap(\.sealed).map {
      AuditRecord(id: 0, time: $0.time, event: $0.name.rawValue, detail: $0.detail)
    }
  }

  static func damage(_ db: Database) throws -> [AuditDamage] {
    let rows = try Row.fetchAll(db, sql: "SELECT \(columns), \(isSpoilt) FROM auditRead")
    let kept = try Data.fetchOne(db, sql: "SELECT readsHash FROM auditEnds") ?? Data()
    var damage: [AuditDamage] = []
    var sum = Data()
    for row in rows {
      let hash: Data = row["hash"]
      let own = row["isSpoilt"] as Bool ? nil : try? OpenReads(row).ownHash()
      sum = exclusiveOr(sum, own ?? hash)
      if own != hash { damage.append(.countChanged(peer: row["peer"], event: row["event"])) }
    }
    if damage.isEmpty, sum != kept { damage.append(.countsRewritten) }
    return damage
  }

  private func isRunning(at moment: AuditRead.Moment) -> Bool {
    // A read slightly before the first one, which overtook it, belongs to its minute.
    session == moment.session && moment.elapsed - began < moment.minute
  }

  private mutating func count(_ event: AuditEvent) {
    detail = times == 0 ? event.detail : AuditDetail.joined(detail, event.detail)
    time = event.time
    times += 1
  }

  /// The event that the counted reads become in the chain, or `nil` if there are none.
  private var sealed: AuditEvent? {
    guard times > 0 else { return nil }
    var detail = detail
    if times > 1 { detail[AuditRead.timesKey] = String(times) }
    return AuditEvent(event, detail, time: time)
  }

  private static func seal(_ open: [OpenReads], _ db: Database) throws {
    for row in open {
      if let event = row.sealed { try AuditChain.link(event, db) }
      try db.execute(sql: "DELETE FROM auditRead WHERE peer = ? AND kind = ?", arguments: [row.peer, row.kind])
      try keep(db, without: row.ownHash())
    }
  }

  private mutating func write(instead before: Data?, _ db: Database) throws {
    hash = try ownHash()
    try db.execute(
      sql: "INSERT OR REPLACE INTO auditRead(\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      arguments: [
        peer, kind, event.rawValue, session, began, time.microseconds, times, try StoreJSON.encode(detail), hash,
      ])
    try Self.keep(db, without: before, with: hash)
  }

  private static func keep(_ db: Database, without before: Data? = nil, with after: Data? = nil) throws {
    var sum = try Data.fetchOne(db, sql: "SELECT readsHash FROM auditEnds") ?? Data()
    for hash in [before, after] { if let hash { sum = exclusiveOr(sum, hash) } }
    try db.execute(sql: "UPDATE auditEnds SET readsHash = ?", arguments: [sum])
  }

  /// Returns the XOR of two hashes of 32 bytes. Empty data stands for zeros.
  private static func exclusiveOr(_ sum: Data, _ hash: Data) -> Data {
    if sum.isEmpty { return hash }
    let joined = Data(zip(sum, hash).map { $0 ^ $1 })
    return joined.allSatisfy { $0 == 0 } ? Data() : joined
  }

  private func ownHash() throws -> Data {
    var hasher = SHA256()
    for text in [peer, kind, event.rawValue, try StoreJSON.encode(detail)] {
      withUnsafeBytes(of: Int64(text.utf8.count).bigEndian) { hasher.update(bufferPointer: $0) }
      hasher.update(data: Data(text.utf8))
    }
    for number in [session, began, time.microseconds, times] {
      withUnsafeBytes(of: number.bigEndian) { hasher.update(bufferPointer: $0) }
    }
    return Data(hasher.finalize())
  }

  /// Returns the rows that match a condition. Starts of streams come before other reads, as in the log.
  private static func fetch(
    _ db: Database, where condition: String = "", _ arguments: StatementArguments = []
  ) throws -> [OpenReads] {
    try Row.fetchAll(
      db,
      sql: """
        SELECT \(columns) FROM (SELECT *, \(isSpoilt) FROM auditRead \(condition)) WHERE NOT isSpoilt
        ORDER BY event <> '\(AuditEvent.Name.readStarted.rawValue)', time, peer, kind
        """, arguments: arguments
    )
    // What a newer version counts waits for that.
    .filter { AuditEvent.Name(rawValue: $0["event"]) != nil }.map(OpenReads.init)
  }
}

extension OpenReads {
  private init(_ row: Row) throws {
    guard let event = AuditEvent.Name(rawValue: row["event"]) else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "reads of an unknown kind are counted")
    }
    self.init(
      peer: row["peer"], kind: row["kind"], event: event, session: row["session"], began: row["began"],
      time: Timestamp(microseconds: row["time"]), times: row["times"],
      detail: try StoreJSON.decode([String: String].self, row["detail"]), hash: row["hash"])
  }
}
