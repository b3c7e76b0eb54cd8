import Foundation
import HealthModel
import Synchronization

/// The records of one type and day, each with its bytes from the file: untouched records are written back unchanged.
struct DayFile: Sendable {
  struct Record: Hashable, Sendable {
    var uuid: UUID
    var start: Timestamp
    /// The bytes of the record without the separator to the next.
    var bytes: ArraySlice<UInt8>
  }

  private let format: DayFileFormat
  private var records: [UUID: Record] = [:]

  /// Creates an empty file.
  init(_ format: DayFileFormat) { self.format = format }

  var count: Int { records.count }

  // MARK: Merging

  /// Adds records, replacing those with the same UUIDs.
  ///
  /// - Returns: whether that changes anything.
  mutating func put(_ new: [Record]) -> Bool {
    records.reserveCapacity(records.count + new.count)
    var hasChanged = false
    for record in new where records.updateValue(record, forKey: record.uuid)?.bytes != record.bytes {
      hasChanged = true
    }
    return hasChanged
  }

  /// Removes a record.
  ///
  /// - Returns: whether there was one.
  mutating func remove(_ uuid: UUID) -> Bool { records.removeValue(forKey: uuid) != nil }

  // MARK: Bytes

  /// Returns whether a record comes before another in a file: sorted by start, then by UUID.
  static func precedes(_ first: (start: Timestamp, uuid: UUID), _ second: (start: Timestamp, uuid: UUID)) -> Bool {
    first.start != second.start ? first.start < second.start : first.uuid < second.uuid
  }

  /// Returns the content of the whole file.
  func bytes() -> [UInt8] {
    let sorted = records.values.sorted { Self.precedes(($0.start, $0.uuid), ($1.start, $1.uuid)) }
    guard let first = sorted.first else { return Array(format.emptyFile.utf8) }
    let separator = Array(format.separator.utf8)
    var bytes = Array(format.opening.utf8)
    bytes.reserveCapacity(sorted.reduce(bytes.count + 2) { $0 + $1.bytes.count + separator.count })
    bytes.append(contentsOf: first.bytes)
    for record in sorted.dropFirst() {
      bytes.append(contentsOf: separator)
      bytes.append(contentsOf: record.bytes)
    }
    bytes.append(contentsOf: format.closing.utf8)
    return bytes
  }

  /// Reads a file.
  ///
  /// - Returns: the records that can be read, and whether they are the whole file.
  static func reading(_ bytes: [UInt8], as format: DayFileFormat) -> (file: DayFile, isWhole: Bool) {
    var file = DayFile(format)
    let isWhole =
      switch format {
      case .ndjson: file.readLines(bytes)
      case .json: file.readArray(bytes)
      case .csv: file.readTable(bytes)
      }
    return (file, isWhole)
  }

  /// The number of bytes that every record exceeds: a UUID and a date alone are this long.
  private static let shortest = 36 + 10

  private struct Head: Decodable {
    var uuid: String
    var startDate: String
  }

  private mutating func readLines(_ bytes: [UInt8]) -> Bool {
    let decoder = JSONDecoder()
    var isWhole = true
    // Line by line, because a file may have millions of lines that are no records.
    var rest = bytes[...]
    while !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
      let record = rest[..<end].trimmed
      rest = rest[end...].dropFirst()
      if record.isEmpty { continue }
      if !add(json: record, decoder) { isWhole = false }
    }
    return isWhole
  }

  private mutating func readArray(_ bytes: [UInt8]) -> Bool {
    let decoder = JSONDecoder()
    var elements = JSONElements(bytes)
    var isWhole = true
    while let element = elements.next() { if !add(json: element, decoder) { isWhole = false } }
    return isWhole && (elements.isAtEnd || bytes.isEmpty)
  }

  private mutating func readTable(_ bytes: [UInt8]) -> Bool {
    var rows = CSVRows(bytes)
    guard let header = rows.next(), header.fields == DayFileFormat.header.components(separatedBy: ",") else {
      return bytes.isEmpty
    }
    var isWhole = true
    while let row = rows.next() {
      guard row.isWhole, row.fields.count == header.fields.count, let uuid = UUID(uuidString: row.fields[0]),
        let start = Timestamp(iso8601: row.fields[1])
      else {
        isWhole = false
        continue
      }
      records[uuid] = Record(uuid: uuid, start: start, bytes: row.bytes)
    }
    return isWhole
  }

  private mutating func add(json: ArraySlice<UInt8>, _ decoder: JSONDecoder) -> Bool {
    guard json.count > Self.shortest, let head = try? decoder.decode(Head.self, from: Data(json)),
      let uuid = UUID(uuidString: head.uuid), let start = Timestamp(iso8601: head.startDate)
    else { return false }
    records[uuid] = Record(uuid: uuid, start: start, bytes: json)
    return true
  }
}

extension ArraySlice<UInt8> {
  /// The slice without JSON white space at its ends.
  fileprivate var trimmed: ArraySlice<UInt8> {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
    let rest = drop(while: isSpace)
    guard let last = rest.lastIndex(where: { !isSpace($0) }) else { return rest }
    return rest[...last]
  }
}

/// A cache of the file that a batch ended with. The next batch often continues that file, and parsing it again takes
/// longer than adding to it.
final class WrittenFile: Sendable {
  /// The maximum size of the cached file in bytes.
  private static let largest = 4 << 20

  private struct Content {
    var name: String
    var bytes: [UInt8]
    var file: DayFile
  }

  private let content = Mutex<Content?>(nil)

  /// Returns the records of a file, or `nil` if the cached file has another name or other bytes.
  func file(_ name: String, _ bytes: [UInt8]) -> DayFile? {
    content.withLock { content in
      guard let content, content.name == name, content.bytes == bytes else { return nil }
      return content.file
    }
  }

  func note(_ file: DayFile, _ name: String, _ bytes: [UInt8]) {
    content.withLock { $0 = bytes.count > Self.largest ? nil : Content(name: name, bytes: bytes, file: file) }
  }
}

/// The changes of a batch that belong to one file.
struct DayFileChanges: Sendable {
  let place: DayFiles.Place
  var tombstones: [CodedTombstone] = []
  var samples: [CodedSample] = []
  /// Whether the last sample of the batch is included: the next batch may continue this file.
  var endsBatch = false

  /// Returns a refusal for each change.
  func refused(_ reason: String, _ types: [SampleType]) -> [RefusedSample] {
    let references =
      tombstones.map { SampleReference(type: types[Int($0.type)], start: $0.start, uuid: $0.uuid) }
      + samples.map { SampleReference(type: types[Int($0.type)], start: $0.start, uuid: $0.uuid) }
    return references.map { RefusedSample($0, reason: reason) }
  }
}
