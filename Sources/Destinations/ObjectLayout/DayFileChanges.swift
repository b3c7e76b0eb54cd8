import Foundation
import HealthModel

/// The changes of a batch that belong to one file.
struct DayFileChanges: Sendable {
  let place: DayFiles.Place
  var tombstones: [CodedTombstone] = []
  var samples: [CodedSample] = []
  /// Whether the last sample of the batch is among them: the next batch may go on with the file.
  var endsBatch = false

  /// All of them.
  func refused(_ reason: String, _ types: [SampleType]) -> [RefusedSample] {
    let references =
      tombstones.map { SampleReference(type: types[Int($0.type)], start: $0.start, uuid: $0.uuid) }
      + samples.map { SampleReference(type: types[Int($0.type)], start: $0.start, uuid: $0.uuid) }
    return references.map { RefusedSample($0, reason: reason) }
  }
}

/// What changes in one file, as records of its format.
struct RecordChanges: Sendable {
  /// Of a record, in bytes.
  private static let usualSize = 800

  /// Of deleted samples that leave no record.
  private var removed: [UUID] = []
  private var records: [DayFile.Record] = []

  /// Throws `DecodingError` where the store is damaged, `EncodingError` of what is no tombstone.
  init(_ changes: DayFileChanges, _ coder: RecordCoder) throws {
    var writer = coder.writer()
    writer.bytes.reserveCapacity(Self.usualSize * (changes.tombstones.count + changes.samples.count))
    var written: [(uuid: UUID, start: Timestamp, end: Int)] = []
    written.reserveCapacity(changes.tombstones.count + changes.samples.count)
    // Of a tombstone and a sample with one UUID the sample counts, which comes later.
    let added = changes.tombstones.isEmpty ? [] : Set(changes.samples.map(\.uuid))
    for row in changes.tombstones where !added.contains(row.uuid) {
      if try coder.write(row, to: &writer) {
        written.append((row.uuid, row.start, writer.bytes.count))
      } else {
        removed.append(row.uuid)
      }
    }
    for row in changes.samples {
      try coder.write(row, to: &writer)
      written.append((row.uuid, row.start, writer.bytes.count))
    }
    // One array holds them all.
    var start = 0
    records = written.map { record in
      defer { start = record.end }
      return DayFile.Record(uuid: record.uuid, start: record.start, bytes: writer.bytes[start..<record.end])
    }
  }

  /// - Returns: whether that changes anything.
  func apply(to file: inout DayFile) -> Bool {
    var hasChanged = false
    for uuid in removed { hasChanged = file.remove(uuid) || hasChanged }
    return file.put(records) || hasChanged
  }
}
