import Foundation
import GRDB
import HealthModel

/// The migration of twins, records that agree in everything that identities are derived from. Earlier versions
/// numbered them in their order of arrival, so one identity could stand for different records on two machines.
enum EarlierTwins {
  /// Gives the twins of every key the identities of their ranks, as the oldest possible statement.
  static func state(_ db: Database) throws {
    let first = try Schema.counter(db)
    var counter = first
    for text in try String.fetchAll(db, sql: "SELECT key FROM twin ORDER BY key") {
      guard let key = SampleKey(text: text), let type = try key.type.id(in: db) else { continue }
      try state(key, type: type, &counter, db)
    }
    if counter > first { try EarlierSchema.renumbered(after: first, upTo: counter, db) }
  }

  private static func state(_ key: SampleKey, type: Int64, _ counter: inout Int64, _ db: Database) throws {
    let start = Timestamp(seconds: key.start).microseconds
    var records: [(copy: Sample, change: Int64)] = []
    for ordinal in 0..<256 {
      let stored = try StoredSamples.read(db, where: "type = ? AND start = ? AND uuid = ?") {
        $0.bind(type)
        $0.bind(start)
        $0.bind(key.uuid(ordinal: ordinal))
      }
      guard let row = stored.samples.first, let change = stored.sampleNumbers.first else { continue }
      records.append((try stored.expanded { _, expander in try expander.sample(row) }, change))
    }
    let hasFiles = records.contains { key.sideFileIdentity($0.copy.payload, ordinal: 0) != nil }
    if hasFiles { return }
    try db.execute(sql: "DELETE FROM twin WHERE key = ?", arguments: [key.text])
    if records.isEmpty { return }
    records.sort { ($0.copy.canonicalValue, $0.change) < ($1.copy.canonicalValue, $1.change) }
    let statements = KeyStatement.all(
      of: records.map(\.copy), key: key.uuid(ordinal: 0), said: Timestamp(microseconds: 0))
    let wasImported = try records.contains { try ImportTrail.contains($0.change, db) }
    // Random identities first, so that no two records have the same identity in between.
    for record in records {
      try WithdrawnSamples.add(key.type, start: start, record.copy.uuid, db)
      try db.execute(
        sql: "UPDATE sample SET uuid = randomblob(16) WHERE change = ?", arguments: [record.change])
    }
    for (rank, (record, statement)) in zip(records, statements).enumerated() {
      counter += 1
      try db.execute(
        sql: "UPDATE sample SET change = ?, uuid = ?, statement = ? WHERE change = ?",
        arguments: [counter, key.uuid(ordinal: rank).bytes, Data(statement.bytes), record.change])
      if wasImported { try ImportTrail.write(counter...counter, db) }
    }
  }
}
