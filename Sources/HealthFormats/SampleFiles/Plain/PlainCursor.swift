import Foundation
import HealthModel

/// A cursor over bytes in exactly the form that hpeer writes. Any other form is left to the general parser.
struct PlainCursor {
  private(set) var next: UnsafePointer<UInt8>
  let end: UnsafePointer<UInt8>

  init(_ bytes: Bytes) {
    next = bytes.start
    end = bytes.start + bytes.count
  }

  var isAtEnd: Bool { next == end }
  private var rest: Int { end - next }

  mutating func skip(_ count: Int) { next += count }

  @inline(__always)
  mutating func take(_ byte: UInt8) -> Bool {
    guard next < end, next.pointee == byte else { return false }
    next += 1
    return true
  }

  @inline(__always)
  mutating func take(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard count <= rest, memcmp(next, text.utf8Start, count) == 0 else { return false }
    next += count
    return true
  }

  // MARK: Numbers

  /// Reads a finite number in JSON's grammar (RFC 8259 section 6), with the same result as a decoder.
  mutating func number() -> Double? {
    let start = next
    let isNegative = take(UInt8(ascii: "-"))
    let integer = next
    var mantissa: UInt64 = 0
    takeDigits(into: &mantissa)
    let integerDigits = next - integer
    guard integerDigits == 1 || integerDigits > 1 && integer.pointee != 0x30 else { return nil }
    var digits = integerDigits
    var scale = 0
    if take(UInt8(ascii: ".")) {
      let fraction = next
      takeDigits(into: &mantissa)
      scale = next - fraction
      if scale == 0 { return nil }
      digits += scale
    }
    let hasExponent = next < end && next.pointee | 0x20 == UInt8(ascii: "e")
    if !hasExponent, digits <= 15 {
      // Both operands are exact and IEEE 754 rounds the one operation correctly.
      let magnitude = Double(mantissa) / Self.powers[scale]
      return isNegative ? -magnitude : magnitude
    }
    if hasExponent {
      next += 1
      if !take(UInt8(ascii: "-")) { _ = take(UInt8(ascii: "+")) }
      let exponent = next
      var ignored: UInt64 = 0
      takeDigits(into: &ignored)
      if next == exponent { return nil }
    }
    // Subnormal and infinite values are left to the general parser.
    guard let value = Double(String(decoding: UnsafeBufferPointer(start: start, count: next - start), as: UTF8.self)),
      value.isNormal
    else { return nil }
    return value
  }

  /// Reads an integer that a double holds exactly, except -0.
  mutating func integer() -> Int64? {
    let isNegative = take(UInt8(ascii: "-"))
    let start = next
    var magnitude: UInt64 = 0
    takeDigits(into: &magnitude)
    let digits = next - start
    guard (1...15).contains(digits), start.pointee != 0x30 || digits == 1 && !isNegative else { return nil }
    return isNegative ? -Int64(magnitude) : Int64(magnitude)
  }

  /// Consumes decimal digits. The value is meaningless beyond 19 digits.
  @inline(__always)
  private mutating func takeDigits(into value: inout UInt64) {
    while next < end, case let digit = next.pointee &- 0x30, digit < 10 {
      value = value &* 10 &+ UInt64(digit)
      next += 1
    }
  }

  private static let powers: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14]

  // MARK: Instants and identities

  /// Reads `2024-06-15T10:30:00Z`, with six decimals or none, in the years 0 to 9999.
  mutating func instant() -> Timestamp? {
    guard rest >= 20, next[4] == UInt8(ascii: "-"), next[7] == UInt8(ascii: "-"), next[10] == UInt8(ascii: "T"),
      next[13] == UInt8(ascii: ":"), next[16] == UInt8(ascii: ":"), let century = two(0), let year = two(2),
      let month = two(5), let day = two(8), let hour = two(11), let minute = two(14), let second = two(17)
    else { return nil }
    var microsecond = 0
    if next[19] == UInt8(ascii: "Z") {
      next += 20
    } else {
      guard rest >= 27, next[19] == UInt8(ascii: "."), next[26] == UInt8(ascii: "Z"), let high = two(20),
        let middle = two(22), let low = two(24)
      else { return nil }
      microsecond = high * 10_000 + middle * 100 + low
      next += 27
    }
    return Timestamp(
      year: century * 100 + year, month: month, day: day, hour: hour, minute: minute, second: second,
      microsecond: microsecond)
  }

  @inline(__always)
  private func two(_ index: Int) -> Int? {
    let (tens, ones) = (next[index] &- 0x30, next[index + 1] &- 0x30)
    return tens < 10 && ones < 10 ? Int(tens) * 10 + Int(ones) : nil
  }

  mutating func uuid() -> UUID? {
    guard rest >= 36 else { return nil }
    var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    let isWhole = withUnsafeMutableBytes(of: &uuid) { parts in
      var from = 0
      var wrong: UInt8 = 0
      for index in parts.indices {
        if index == 4 || index == 6 || index == 8 || index == 10 {
          wrong |= next[from] ^ UInt8(ascii: "-")
          from += 1
        }
        let (high, low) = (Self.hexadecimal[Int(next[from])], Self.hexadecimal[Int(next[from + 1])])
        wrong |= (high | low) & 0xF0
        parts[index] = high << 4 | low & 15
        from += 2
      }
      return wrong == 0
    }
    guard isWhole else { return nil }
    next += 36
    return UUID(uuid: uuid)
  }

  /// The values of hexadecimal digits; 0xFF for any other byte.
  private static let hexadecimal: [UInt8] = (0...255).map { byte in
    UInt8(String(decoding: [byte], as: UTF8.self), radix: 16) ?? 0xFF
  }

  // MARK: Texts

  /// Reads a JSON string without escapes, including its quotes.
  mutating func quoted() -> Bytes? {
    let start = next
    guard take(UInt8(ascii: "\"")) else { return nil }
    while next < end, next.pointee != UInt8(ascii: "\"") {
      if next.pointee < 0x20 || next.pointee == UInt8(ascii: "\\") { return nil }
      next += 1
    }
    guard take(UInt8(ascii: "\"")) else { return nil }
    return Bytes(start, next - start)
  }

  /// Reads from a brace to the bracket that closes it, without checking the content.
  mutating func object() -> Bytes? {
    let start = next
    guard next < end, next.pointee == UInt8(ascii: "{") else { return nil }
    var depth = 0
    while next < end {
      let byte = next.pointee
      next += 1
      switch byte {
      case UInt8(ascii: "\""):
        while next < end, next.pointee != UInt8(ascii: "\"") {
          next += next.pointee == UInt8(ascii: "\\") && rest > 1 ? 2 : 1
        }
        guard take(UInt8(ascii: "\"")) else { return nil }
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return Bytes(start, next - start) }
      default: break
      }
    }
    return nil
  }

  /// Reads a CSV field and the comma after it. Returns `nil` for a field that contains a line end.
  mutating func field() -> Bytes? {
    let start = next
    if take(UInt8(ascii: "\"")) {
      while true {
        guard next < end, case let byte = next.pointee, byte != 0x0A, byte != 0x0D else { return nil }
        next += 1
        if byte == UInt8(ascii: "\""), !take(byte) { break }
      }
    } else {
      while next < end, next.pointee != UInt8(ascii: ",") {
        let byte = next.pointee
        if byte == UInt8(ascii: "\"") || byte == 0x0A || byte == 0x0D { return nil }
        next += 1
      }
    }
    guard take(UInt8(ascii: ",")) else { return nil }
    return Bytes(start, next - start)
  }
}
