import Foundation
import HealthModel

/// A writer that appends the records of a batch to a byte array.
struct RecordWriter {
  /// The records written so far, and any separators that the caller appends.
  var bytes: [UInt8] = []
  private let coder: RecordCoder
  private var templates: [RecordShape: RecordTemplate] = [:]
  private var latest: (shape: RecordShape, template: RecordTemplate)?

  init(_ coder: RecordCoder) { self.coder = coder }

  /// Writes the record of a sample. Throws `DecodingError` if the store is damaged.
  mutating func write(_ row: CodedSample) throws {
    let values = Values(
      uuid: row.uuid, start: row.start, end: row.end, category: coder.category(of: row), value: coder.value(of: row))
    let coder = coder
    try write(values, in: RecordShape(row)) { try coder.append(row, to: &$0) }
  }

  /// Writes the record of a deletion. Throws `EncodingError` if the tombstone cannot be encoded.
  mutating func write(_ row: CodedTombstone) throws {
    let values = Values(
      uuid: row.uuid, start: row.start, end: row.end ?? row.start, deleted: row.deleted, category: nil, value: 0)
    let coder = coder
    try write(values, in: RecordShape(row)) { try coder.append(row, to: &$0) }
  }

  private struct Values {
    var uuid: UUID
    var start: Timestamp
    var end: Timestamp
    var deleted: Timestamp?
    var category: Int64?
    var value: Double
  }

  /// Writes a record.
  ///
  /// - Parameter change: appends the line of the change feed.
  private mutating func write(
    _ values: Values, in shape: RecordShape, _ change: (inout [UInt8]) throws -> Void
  ) throws {
    try template(of: shape).forEach { part, variable in
      bytes.append(contentsOf: part)
      switch variable {
      case .categoryValue: append(category: values.category)
      case .change: try change(&bytes)
      case .deletedAt: values.deleted?.appendMilliseconds(to: &bytes)
      case .endDate: values.end.appendMilliseconds(to: &bytes)
      case .startDate: values.start.appendMilliseconds(to: &bytes)
      case .tzOffset: append(offset: coder.offset(at: values.start))
      case .uuid: values.uuid.append(to: &bytes)
      case .value: append(value: values.value)
      case nil: break
      }
    }
  }

  /// Returns the template of a shape. The latest is cached, because most records have the shape of their predecessor.
  private mutating func template(of shape: RecordShape) -> RecordTemplate {
    if let latest, latest.shape == shape { return latest.template }
    let template = templates[shape] ?? coder.template(of: shape)
    templates[shape] = template
    latest = (shape, template)
    return template
  }

  // MARK: Values

  private mutating func append(category: Int64?) {
    if let category { category.append(to: &bytes) } else { bytes.append("null") }
  }

  /// Appends the UTC offset of the home time zone: `+02:00`.
  ///
  /// - Parameter offset: seconds east of UTC.
  private mutating func append(offset: Int) {
    let minutes = UInt(abs(offset / 60))
    bytes.append(offset / 60 < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
    bytes.append(twoDigits: minutes / 60)
    bytes.append(UInt8(ascii: ":"))
    bytes.append(twoDigits: minutes % 60)
  }

  /// Appends a number, or `null` (JSON) or nothing (CSV) if it is not finite.
  private mutating func append(value: Double) {
    switch coder.format {
    case .csv: if value.isFinite { bytes.append(contentsOf: value.description.utf8) }
    case .json, .ndjson: if value.isFinite { bytes.append(number: value) } else { bytes.append("null") }
    }
  }
}

extension Timestamp {
  /// Appends `2024-06-15T10:30:00.000Z`, always with milliseconds, which HealthPush requires.
  func appendMilliseconds(to bytes: inout [UInt8]) {
    // Below this limit, the start of the second would be before the earliest timestamp.
    let instant = max(self, Timestamp(microseconds: .min + 1_000_000))
    let second = Timestamp(seconds: instant.seconds)
    second.append(to: &bytes)
    bytes[bytes.count - 1] = UInt8(ascii: ".")
    let milliseconds = UInt((instant.microseconds - second.microseconds) / 1_000)
    bytes.append(0x30 + UInt8(milliseconds / 100))
    bytes.append(twoDigits: milliseconds % 100)
    bytes.append(UInt8(ascii: "Z"))
  }
}

extension [UInt8] {
  fileprivate mutating func append(twoDigits number: UInt) {
    append(0x30 + UInt8(truncatingIfNeeded: number / 10))
    append(0x30 + UInt8(truncatingIfNeeded: number % 10))
  }
}
