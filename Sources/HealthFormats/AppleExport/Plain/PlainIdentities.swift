import Foundation
import HealthModel

/// Writes the names of ``SampleIdentity`` of records, whose beginnings repeat, and makes UUIDs of them.
struct PlainIdentities: ~Copyable {
  /// Four numbers, each with U+001F before it.
  private let ending = UnsafeMutablePointer<UInt8>.allocate(capacity: 4 * 21)
  private var pair = (type: -1, source: -1)
  private var beginning = SampleIdentity.NameBeginning(UnsafeRawBufferPointer(start: nil, count: 0))

  deinit { ending.deallocate() }

  /// Whether the type and the source of the following, by their numbers, are the same as before.
  func continues(type: Int, source: Int) -> Bool { pair.type == type && pair.source == source }

  /// Chooses the type and the source of the following.
  mutating func begin(type: Int, source: Int, _ types: [String], _ sources: [String]) {
    pair = (type, source)
    var text = "v1\u{1F}record\u{1F}\(types[type])\u{1F}\(sources[source])"
    beginning = text.withUTF8 { SampleIdentity.NameBeginning(UnsafeRawBufferPointer($0)) }
  }

  func uuid(start: Timestamp, end: Timestamp, created: Timestamp?) -> UUID {
    var count = append(start.seconds, at: 0)
    count = append(end.seconds, at: count)
    if let created {
      count = append(created.seconds, at: count)
    } else {
      ending[count] = 0x1F
      count += 1
    }
    count = append(0, at: count)
    return beginning.uuid(endingWith: UnsafeRawBufferPointer(start: ending, count: count))
  }

  /// Writes U+001F and a number; returns the position after it.
  private func append(_ number: Int64, at position: Int) -> Int {
    ending[position] = 0x1F
    var next = position + 1
    if number < 0 {
      ending[next] = 0x2D
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
      ending[index] = 0x30 + UInt8(truncatingIfNeeded: digit)
      rest = quotient
    } while index > next
    return next + length
  }
}
