import GRDB

/// Which peers have been sent anything of an import, as the audit log has it. Nothing is sent that the log does not hold;
/// where it does not tell how far a peer got, it got everything.
struct ImportReaders {
  private struct Reading: Hashable {
    var peer: String?
    var from: String?
  }

  /// Streams of which the end is not in the log yet, and to whom.
  private var open: [Reading: [String]] = [:]
  private var found: Set<String> = []

  /// - Parameters:
  ///   - event: the last before the import.
  ///   - first: the counter before the import.
  init(after event: Int64, past first: Int64, _ db: Database) throws {
    // A server that starts has nothing left of the streams of the one before.
    let begin = try Int64.fetchOne(
      db, sql: "SELECT MAX(id) FROM audit WHERE id <= ? AND event IN (?, ?)",
      arguments: [
        event, AuditEvent.Name.serverStarted.rawValue, AuditEvent.Name.serverStopped.rawValue,
      ])
    let records = try AuditRecord.fetch(db, after: begin ?? 0, names: [.readStarted, .dataRead])
    for record in records { add(record, isLater: record.id > event, past: first) }
  }

  /// Their names.
  var names: [String] { found.union(open.values.joined()).sorted() }

  private mutating func add(_ record: AuditRecord, isLater: Bool, past first: Int64) {
    let reading = Reading(peer: record.detail["id"], from: record.detail["from"])
    let name = record.detail["peer"] ?? "?"
    guard record.event == AuditEvent.Name.dataRead.rawValue else {
      open[reading, default: []].append(name)
      return
    }
    if open[reading]?.popLast() != nil, open[reading]?.isEmpty == true { open[reading] = nil }
    guard isLater, record.detail["count"] != "0" else { return }
    // A page of samples by type says nothing of positions.
    let end = record.detail["to"].flatMap { Int64($0) } ?? .max
    if end > first { found.insert(name) }
  }
}
