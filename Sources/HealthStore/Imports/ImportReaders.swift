import GRDB
import HealthModel

/// The peers that were sent any data of an import, according to the audit log. Everything that is sent is logged; if
/// the log does not say how far a peer read, the peer counts as having read everything.
struct ImportReaders {
  /// The open streams of one peer: their end is not in the audit log yet.
  private struct Streams {
    var count = 0
    var name: String
  }

  /// The open streams by the peer's id.
  private var open: [String: Streams] = [:]
  private var found: Set<String> = []

  /// Reads the audit log.
  ///
  /// - Parameters:
  ///   - event: the last event before the import.
  ///   - first: the counter before the import.
  init(after event: Int64, past first: Int64, _ db: Database) throws {
    // A server that starts has no open streams of the previous one.
    let begin = try Int64.fetchOne(
      db, sql: "SELECT MAX(id) FROM audit WHERE id <= ? AND event IN (?, ?)",
      arguments: [
        event, AuditEvent.Name.serverStarted.rawValue, AuditEvent.Name.serverStopped.rawValue,
      ])
    let records = try AuditRecord.fetch(db, after: begin ?? 0, names: [.readStarted, .dataRead, .statisticsRead])
    for record in records { add(record, isLater: record.id > event, past: first) }
    // An import begins with no counted reads.
    for record in try OpenReads.records(db) { add(record, isLater: true, past: first) }
  }

  /// The names of the peers that were sent any data of the import, sorted.
  var names: [String] { found.union(open.values.filter { $0.count > 0 }.map(\.name)).sorted() }

  private mutating func add(_ record: AuditRecord, isLater: Bool, past first: Int64) {
    let peer = record.detail["id"] ?? ""
    let name = record.detail["peer"] ?? "?"
    switch record.event {
    case AuditEvent.Name.readStarted.rawValue:
      open[peer, default: Streams(name: name)].count += record.times
    case AuditEvent.Name.dataRead.rawValue:
      let ended = record.detail[AuditRead.streamsKey].flatMap { Int($0) } ?? 0
      if let count = open[peer]?.count { open[peer]?.count = max(0, count - ended) }
      guard isLater, record.detail["count"] != "0" else { return }
      // A page of samples by type has no position.
      let end = record.detail["to"].flatMap { Int64($0) } ?? .max
      if end > first { found.insert(name) }
    // Statistics that include the import were sent, and cannot be withdrawn.
    case AuditEvent.Name.statisticsRead.rawValue: if isLater { found.insert(name) }
    default: break
    }
  }
}
