import Foundation
import HealthModel

/// Writes the records of a batch one after the other.
struct RecordWriter {
  /// What was written, and whatever else is put between.
  var bytes: [UInt8] = []
  private let coder: RecordCoder
  private var templates: [RecordShape: RecordTemplate] = [:]
  private var latest: (shape: RecordShape, template: RecordTemplate)?

  init(_ coder: RecordCoder) { self.coder = coder }

  /// Throws `DecodingError` where the store is damaged.
  mutating func write(_ row: CodedSample) throws {
    let values = Values(
      uuid: row.uuid, start: row.start, end: row.end, category: coder.category(of: row), value: coder.value(of: row))
    let coder = coder
    try write(values, in: RecordShape(row)) { try coder.append(row, to: &$0) }
  }

  /// Throws `EncodingError` of what is no tombstone.
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

  /// Of one file most records have the shape of the one before.
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

  /// `+02:00`: what clocks at home showed then.
  ///
  /// - Parameter offset: seconds east of UTC.
  private mutating func append(offset: Int) {
    let minutes = UInt(abs(offset / 60))
    bytes.append(offset / 60 < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
    bytes.append(twoDigits: minutes / 60)
    bytes.append(UInt8(ascii: ":"))
    bytes.append(twoDigits: minutes % 60)
  }

  /// JSON has no number for what is not finite.
  private mutating func append(value: Double) {
    switch coder.format {
    case .csv: if value.isFinite { bytes.append(contentsOf: value.description.utf8) }
    case .json, .ndjson: if value.isFinite { bytes.append(number: value) } else { bytes.append("null") }
    }
  }
}

extension Timestamp {
  /// Appends `2024-06-15T10:30:00.000Z`: always with milliseconds, which HealthPush wants.
  func appendMilliseconds(to bytes: inout [UInt8]) {
    // The second before the first microsecond of all is no instant.
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
