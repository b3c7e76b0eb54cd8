import Foundation
import TestSupport

/// The decisions of a hostile server, made from a seed or from a fuzzer's bytes, which are followed by zeros. The
/// choice 0 is what an honest server does.
public struct Choices: Sendable {
  private var bytes: ArraySlice<UInt8>?
  /// A generator for content on which no decision depends, such as that of samples.
  public var random: SeededGenerator

  public init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  public init(bytes: [UInt8]) {
    self.bytes = bytes[...]
    random = SeededGenerator(seed: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  public mutating func byte() -> UInt8 {
    if bytes == nil { return UInt8(truncatingIfNeeded: random.next()) }
    return bytes?.popFirst() ?? 0
  }

  /// Returns a number from 0 to `count - 1`.
  ///
  /// - Parameter count: The number of choices, up to 65,536.
  public mutating func below(_ count: Int) -> Int {
    let number = count <= 256 ? Int(byte()) : Int(byte()) << 8 | Int(byte())
    return number % max(1, count)
  }

  public mutating func oneIn(_ count: Int) -> Bool { below(count) == count - 1 }

  /// Returns an element of `elements`, which must not be empty.
  public mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  /// Returns JSON text, mostly a number, that tends to break parsers and arithmetic.
  public mutating func extreme() -> String {
    pick([
      "0", "-1", "1", "255", "65536", "2147483647", "-2147483648", "4294967296", "281474976710655", "281474976710656",
      "9007199254740993", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
      "18446744073709551615", "99999999999999999999999", "1e308", "-1e308", "1e999", "1e-400", "0.1", "-0", "NaN", "",
      "true", "null", "\"\"", "[]", "{}",
    ])
  }
}
