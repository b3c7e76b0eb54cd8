import Foundation
import HealthModel

/// Writes the names of ``SampleIdentity`` of records, whose beginnings repeat, and makes UUIDs of them.
struct PlainIdentities: ~Copyable {
  /// Longer types and source names, which only a hostile file has, are for others.
  static let textLimit = 4096

  private let name = UnsafeMutablePointer<UInt8>.allocate(capacity: 2 * Self.textLimit + 256)
  private var pair = (type: -1, source: -1)
  private var beginning = 0

  deinit { name.deallocate() }

  /// Whether the type and the source of the following, by their numbers, are the same as before.
  func continues(type: Int, source: Int) -> Bool { pair.type == type && pair.source == source }

  /// Chooses the type and the source of the following.
  mutating func begin(type: Int, source: Int, _ types: [String], _ sources: [String]) {
    pair = (type, source)
    beginning = 0
    append("v1\u{1F}record\u{1F}")
    append(types[type])
    append("\u{1F}")
    append(sources[source])
  }

  func uuid(start: Timestamp, end: Timestamp, created: Timestamp?) -> UUID {
    var count = beginning
    count = append(start.seconds, at: count)
    count = append(end.seconds, at: count)
    if let created {
      count = append(created.seconds, at: count)
    } else {
      name[count] = 0x1F
      count += 1
    }
    count = append(0, at: count)
    return SampleIdentity.uuid(ofName: UnsafeRawBufferPointer(start: name, count: count))
  }

  private mutating func append(_ text: String) {
    text.withBytes { bytes in
      (name + beginning).update(from: bytes.start, count: bytes.count)
      beginning += bytes.count
    }
  }

  /// Writes U+001F and a number; returns the position after it.
  private func append(_ number: Int64, at position: Int) -> Int {
    name[position] = 0x1F
    var next = position + 1
    if number < 0 {
      name[next] = 0x2D
      next += 1
    }
    var rest = number.magnitude
    var length = 1
    var power: UInt64 = 10
    while rest >= power, length < 19 {
      length += 1
      power *= 10
    }
    var index = next + length
    repeat {
      index -= 1
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      name[index] = 0x30 + UInt8(truncatingIfNeeded: digit)
      rest = quotient
    } while index > next
    return next + length
  }
}
