import Foundation
import HealthModel

/// The changes of one file, encoded as records of its format.
struct RecordChanges: Sendable {
  /// The record length in bytes up to which memory is reserved in advance.
  private static let longestUsual = 2_048

  private struct Head {
    var uuid: UUID
    var start: Timestamp
    /// The range of the record's bytes in ``file``.
    var range: Range<Int>
  }

  private enum Row {
    case sample(Int), tombstone(Int)
  }

  /// The bytes of a file that consists of exactly these records.
  let file: [UInt8]
  private var heads: [Head] = []
  /// The UUIDs of deleted samples, in a format that has no records of deletions.
  private var removed: [UUID] = []

  /// Encodes the changes. Throws `DecodingError` if the store is damaged, or `EncodingError`.
  init(_ changes: DayFileChanges, _ coder: RecordCoder) throws {
    let format = coder.format
    let rows = Self.rows(of: changes)
    var writer = coder.writer()
    writer.bytes += format.opening.utf8
    let separator = Array(format.separator.utf8)
    heads.reserveCapacity(rows.count)
    for (start, uuid, row) in rows {
      if case .tombstone = row, !format.keepsDeletions {
        removed.append(uuid)
        continue
      }
      if !heads.isEmpty { writer.bytes += separator }
      let first = writer.bytes.count
      switch row {
      case .sample(let index): try writer.write(changes.samples[index])
      case .tombstone(let index): try writer.write(changes.tombstones[index])
      }
      heads.append(Head(uuid: uuid, start: start, range: first..<writer.bytes.count))
      if heads.count == 1 {
        // Most records are as long as the first, or slightly longer.
        let size = min(writer.bytes.count + writer.bytes.count / 16, Self.longestUsual)
        writer.bytes.reserveCapacity(size * rows.count)
      }
    }
    writer.bytes += format.closing.utf8
    file = heads.isEmpty ? Array(format.emptyFile.utf8) : writer.bytes
  }

  /// Returns the changes in the order of a file. The last change of a UUID wins, and samples win over tombstones.
  private static func rows(of changes: DayFileChanges) -> [(start: Timestamp, uuid: UUID, row: Row)] {
    var rows: [(start: Timestamp, uuid: UUID, row: Row)] = []
    rows.reserveCapacity(changes.samples.count + changes.tombstones.count)
    var seen = Set<UUID>(minimumCapacity: rows.capacity)
    for (index, sample) in changes.samples.enumerated().reversed() where seen.insert(sample.uuid).inserted {
      rows.append((sample.start, sample.uuid, .sample(index)))
    }
    for (index, tombstone) in changes.tombstones.enumerated().reversed() where seen.insert(tombstone.uuid).inserted {
      rows.append((tombstone.start, tombstone.uuid, .tombstone(index)))
    }
    return rows.sorted { DayFile.precedes(($0.start, $0.uuid), ($1.start, $1.uuid)) }
  }

  /// The number of records.
  var count: Int { heads.count }

  private var records: [DayFile.Record] {
    heads.map { DayFile.Record(uuid: $0.uuid, start: $0.start, bytes: file[$0.range]) }
  }

  /// Merges the records into a file.
  ///
  /// - Returns: whether that changes anything.
  func apply(to file: inout DayFile) -> Bool {
    var hasChanged = false
    for uuid in removed { hasChanged = file.remove(uuid) || hasChanged }
    return file.put(records) || hasChanged
  }
}
