import Foundation
import HealthModel

/// Writes JSON objects one after the other as HealthPush's encoder does: slashes escaped; in an array indented by two, with
/// ` : ` between name and value. Members come in the order in which they are written, which is that of their names.
struct RecordWriter {
  /// What was written, and whatever else is put between.
  var bytes: [UInt8] = []
  private let isPretty: Bool
  private var depth: Int
  private var isFirst = true

  /// - Parameter depth: how many objects and arrays the first object is in.
  init(isPretty: Bool, depth: Int = 1) {
    (self.isPretty, self.depth) = (isPretty, depth)
  }

  mutating func beginObject() {
    bytes.append(UInt8(ascii: "{"))
    (isFirst, depth) = (true, depth + 1)
  }

  mutating func endObject() {
    (isFirst, depth) = (false, depth - 1)
    breakLine()
    bytes.append(UInt8(ascii: "}"))
  }

  /// The name of a member, whose value is written next.
  mutating func name(_ name: StaticString) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    breakLine()
    bytes.append("\"")
    bytes.append(name)
    bytes.append(isPretty ? "\" : " : "\":")
  }

  mutating func member(_ name: StaticString, _ text: String) {
    self.name(name)
    let start = bytes.count
    bytes.append(quoted: text)
    guard text.utf8.contains(UInt8(ascii: "/")) else { return }
    let quoted = Array(bytes[start...])
    bytes.removeLast(quoted.count)
    for byte in quoted {
      if byte == UInt8(ascii: "/") { bytes.append(UInt8(ascii: "\\")) }
      bytes.append(byte)
    }
  }

  /// `null` of what JSON has no number for.
  mutating func member(_ name: StaticString, _ number: Double) {
    self.name(name)
    if number.isFinite { bytes.append(number: number) } else { bytes.append("null") }
  }

  mutating func member(_ name: StaticString, _ number: Int64?) {
    self.name(name)
    if let number { number.append(to: &bytes) } else { bytes.append("null") }
  }

  mutating func member(_ name: StaticString, _ flag: Bool) {
    self.name(name)
    bytes.append(flag ? "true" : "false")
  }

  mutating func member(_ name: StaticString, _ uuid: UUID) {
    self.name(name)
    bytes.append("\"")
    uuid.append(to: &bytes)
    bytes.append("\"")
  }

  mutating func member(_ name: StaticString, _ instant: Timestamp) {
    self.name(name)
    bytes.append("\"")
    instant.appendMilliseconds(to: &bytes)
    bytes.append("\"")
  }

  mutating func member(_ name: StaticString, json: [UInt8]) {
    self.name(name)
    bytes.append(contentsOf: json)
  }

  private mutating func breakLine() {
    guard isPretty else { return }
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
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
    let milliseconds = UInt16((instant.microseconds - second.microseconds) / 1_000)
    bytes.append(0x30 + UInt8(milliseconds / 100))
    bytes.append(0x30 + UInt8(milliseconds / 10 % 10))
    bytes.append(0x30 + UInt8(milliseconds % 10))
    bytes.append(UInt8(ascii: "Z"))
  }
}
