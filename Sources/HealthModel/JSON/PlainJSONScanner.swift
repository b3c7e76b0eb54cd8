/// A validator for a subset of canonical JSON that works without decoding. The only escape sequences are `\"`, `\\`,
/// `\n`, `\r` and `\t`, and keys are ASCII without escape sequences, so that no two are canonically equivalent.
struct PlainJSONScanner {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0
  /// The maximum nesting that is recognized.
  private static let depth = 128

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  /// Returns whether the text is a nonempty object that contains only strings without escapes, integers and Booleans.
  mutating func isMetadata() -> Bool {
    let isObject = isObject { scanner in
      switch scanner.next {
      case UInt8(ascii: "\""): scanner.key() != nil
      case UInt8(ascii: "t"): scanner.take("true")
      case UInt8(ascii: "f"): scanner.take("false")
      default: scanner.isInteger()
      }
    }
    return isObject && position == bytes.count
  }

  /// Returns whether the text is a single JSON value in the subset.
  mutating func isText() -> Bool { isValue(Self.depth) && position == bytes.count }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func isValue(_ depth: Int) -> Bool {
    guard depth > 0 else { return false }
    switch next {
    case UInt8(ascii: "{"): return take("{}") || isObject { $0.isValue(depth - 1) }
    case UInt8(ascii: "["): return take("[]") || isArray(depth)
    case UInt8(ascii: "\""): return isString()
    case UInt8(ascii: "t"): return take("true")
    case UInt8(ascii: "f"): return take("false")
    case UInt8(ascii: "n"): return take("null")
    default: return isNumber()
    }
  }

  private mutating func isArray(_ depth: Int) -> Bool {
    guard take("[") else { return false }
    repeat {
      guard isValue(depth - 1) else { return false }
    } while take(",")
    return take("]")
  }

  private mutating func isObject(_ isValue: (inout Self) -> Bool) -> Bool {
    guard take("{") else { return false }
    var previous: Slice<UnsafeBufferPointer<UInt8>>?
    repeat {
      guard let key = key(), take(":") else { return false }
      // Keys must ascend, so none occurs twice.
      if let previous, !previous.lexicographicallyPrecedes(key) { return false }
      // Two different keys beyond ASCII may be equal to Swift because of combining characters.
      guard key.allSatisfy({ $0 < 0x80 }) else { return false }
      previous = key
      guard isValue(&self) else { return false }
    } while take(",")
    return take("}")
  }

  // MARK: Numbers

  /// Returns whether an integer of at most 18 digits without leading zeros follows. Any such integer fits into 64
  /// bits.
  private mutating func isInteger() -> Bool {
    let isNegative = take("-")
    let start = position
    skipDigits()
    guard (1...18).contains(position - start) else { return false }
    return bytes[start] != 0x30 || (position - start == 1 && !isNegative)
  }

  /// Returns whether an integer follows, or a fraction exactly as Swift prints its `Double`.
  private mutating func isNumber() -> Bool {
    let start = position
    if isInteger(), !isFraction { return true }
    position = start
    _ = take("-")
    while let next,
      isDigit(next) || [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "+"), UInt8(ascii: "-")].contains(next)
    {
      position += 1
    }
    // Seventeen digits plus sign, point and exponent.
    guard (3...28).contains(position - start) else { return false }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard let number = Double(text), number.isFinite, Int64(exactly: number) == nil else { return false }
    return "\(number)" == text
  }

  private var isFraction: Bool { [UInt8(ascii: "."), UInt8(ascii: "e")].contains(next) }

  private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private mutating func skipDigits() {
    while let next, isDigit(next) { position += 1 }
  }

  // MARK: Texts

  private mutating func isString() -> Bool {
    guard take("\"") else { return false }
    while let next, next != UInt8(ascii: "\"") {
      guard next >= 0x20 else { return false }
      position += 1
      guard next == UInt8(ascii: "\\") else { continue }
      guard take("\"") || take("\\") || take("n") || take("r") || take("t") else { return false }
    }
    return take("\"")
  }

  /// Reads a string without escapes.
  private mutating func key() -> Slice<UnsafeBufferPointer<UInt8>>? {
    guard take("\"") else { return nil }
    let start = position
    while let next, next != UInt8(ascii: "\"") {
      guard next >= 0x20, next != UInt8(ascii: "\\") else { return nil }
      position += 1
    }
    let content = bytes[start..<position]
    return take("\"") ? content : nil
  }

  private mutating func take(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - position >= count else { return false }
    for offset in 0..<count where bytes[position + offset] != text.utf8Start[offset] { return false }
    position += count
    return true
  }
}
