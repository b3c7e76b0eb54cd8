import Cryptography
import Foundation
import GRDB
import HealthModel

/// The migration of readings of earlier versions, whose identity included the value. Each replacement was a deletion,
/// so two machines that replaced values in different orders deleted both.
enum EarlierReadings {
  /// The number of times that one value may have returned after another, each time with a new identity.
  private static let ordinals = 0..<256

  /// Gives each earlier reading the identity of ``SampleIdentity/uuid(ofReading:sender:)``, without a sender because
  /// none was recorded. Deleted readings stay deleted.
  static func rename(_ db: Database) throws {
    var counter = try Schema.counter(db)
    let first = counter
    try renameSamples(&counter, db)
    try renameTombstones(&counter, db)
    if counter == first { return }
    _ = try TypeTally.recount(db)
    try EarlierSchema.renumbered(after: first, upTo: counter, db)
  }

  private static func renameSamples(_ counter: inout Int64, _ db: Database) throws {
    let types = try Int64.fetchAll(db, sql: "SELECT id FROM type WHERE \(isOfReadings)")
    for type in types {
      var newest: [UUID: (copy: SampleCopy, change: Int64)] = [:]
      let stored = try StoredSamples.read(db, where: "type = ?") { $0.bind(type) }
      let samples = try stored.expanded { changes, expander in
        try zip(changes.samples, stored.sampleNumbers).map { row, change in
          (copy: SampleCopy(try expander.sample(row), road: row.road), change: change)
        }
      }
      for (copy, change) in samples where isEarlier(copy.sample) {
        var copy = copy
        try WithdrawnSamples.add(copy.sample.type, start: copy.sample.start.microseconds, copy.sample.uuid, db)
        copy.sample.uuid = SampleIdentity.uuid(ofReading: copy.sample)
        if let other = newest[copy.sample.uuid] {
          let isNewer = try copy.isNewer(than: other.copy)
          try db.execute(sql: "DELETE FROM sample WHERE change = ?", arguments: [isNewer ? other.change : change])
          if !isNewer { continue }
        }
        newest[copy.sample.uuid] = (copy, change)
      }
      for (uuid, reading) in newest.sorted(by: { $0.value.change < $1.value.change }) {
        counter += 1
        try db.execute(
          sql: "UPDATE sample SET change = ?, uuid = ? WHERE change = ?",
          arguments: [counter, uuid.bytes, reading.change])
      }
    }
  }

  /// Adds a tombstone for every period to each tombstone, because a tombstone does not say which period it belongs
  /// to.
  private static func renameTombstones(_ counter: inout Int64, _ db: Database) throws {
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT identifier, start, duration, json, deleted, tombstone.type, source, road
        FROM tombstone JOIN type ON type.id = tombstone.type JOIN source ON source.id = tombstone.source
        WHERE duration IS NOT NULL AND \(isOfReadings) ORDER BY change
        """)
    for row in rows {
      let (start, duration): (Int64, Int64) = (row[1], row[2])
      var sample = Sample(
        uuid: UUID(), type: SampleType(row[0] as String), start: Timestamp(microseconds: start),
        end: Timestamp(microseconds: start &+ duration), source: try StoreJSON.decode(Source.self, row[3] as String),
        payload: .quantity(Quantity(0, "")))
      if isSingle(sample.type) { sample.payload = .characteristic(CharacteristicValue(value: "")) }
      for period in ["", "day", "night"] {
        sample.metadata = period.isEmpty ? [:] : ["hpeer.aggregation": .string(period)]
        try db.execute(
          sql: """
            INSERT INTO tombstone(change, type, start, uuid, deleted, duration, source, road) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """,
          arguments: [
            counter + 1, row[5] as Int64, start, SampleIdentity.uuid(ofReading: sample).bytes, row[4] as Int64,
            duration, row[6] as Int64, row[7] as Int64,
          ])
        counter += Int64(db.changesCount)
      }
    }
    // A reading that is here was restored or reported again after its deletion.
    try db.execute(
      sql: """
        DELETE FROM tombstone WHERE (type, start, uuid) IN (SELECT type, start, uuid FROM sample WHERE type IN (
          SELECT id FROM type WHERE \(isOfReadings)))
        """)
  }

  /// An SQL condition for the types that may have readings.
  private static let isOfReadings =
    "(identifier NOT GLOB 'HK*' OR identifier GLOB 'HKCharacteristic*' OR identifier = '\(SampleType.activitySummary)')"

  private static func isSingle(_ type: SampleType) -> Bool {
    type == .activitySummary || !["hae.", "p247.", "healthpush."].contains { type.rawValue.hasPrefix($0) }
  }

  private static func isEarlier(_ sample: Sample) -> Bool {
    // A restored reading of these kinds has another identity than the derived one.
    if Payload.kindsOneAtATime.contains(sample.payload.kind) { return true }
    return sample.uuid.isDerived && ordinals.contains { sample.uuid == identity(of: sample, ordinal: $0) }
  }

  // MARK: Their identities

  /// Returns the identity that earlier versions gave a reading.
  ///
  /// - Parameter ordinal: the number of times that the same value had returned.
  static func identity(of sample: Sample, ordinal: Int) -> UUID {
    let fields = ["v1", "drifting", sample.type.rawValue, String(sample.start.seconds)] + said(sample) + ["\(ordinal)"]
    var hasher = Insecure.SHA1()
    withUnsafeBytes(of: SampleIdentity.namespace.uuid) { hasher.update(bufferPointer: $0) }
    hasher.update(data: Array(fields.joined(separator: "\u{1F}").utf8))
    var uuid = hasher.finalize().withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }
    uuid.6 = uuid.6 & 0x0F | 0x50
    uuid.8 = uuid.8 & 0x3F | 0x80
    return UUID(uuid: uuid)
  }

  private static func said(_ sample: Sample) -> [String] {
    switch sample.payload {
    case .quantity(let quantity):
      return [sample.payload.kind, String(sample.end.seconds), sample.source.name, "\(quantity.value)", quantity.unit]
    case .unknown(let kind, let content):
      // Encoding a JSON value never fails.
      return [kind, String(sample.end.seconds), sample.source.name, (try? CanonicalJSON.encode(content)) ?? ""]
    case .activitySummary(let summary):
      let attributes = summary.attributes.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
      return [summary.date] + attributes + (sample.metadata.isEmpty ? [] : [MetadataText.encode(sample.metadata)])
    case .characteristic(let characteristic): return [characteristic.value]
    default: return [sample.payload.kind]
    }
  }
}
