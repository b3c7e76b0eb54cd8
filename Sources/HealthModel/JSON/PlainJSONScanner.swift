/// Validates a subset of canonical JSON without decoding it: escape sequences are `\"`, `\\`, `\n`, `\r` and `\t` only,
/// and keys are ASCII without escape sequences, so that no two are canonically equivalent.
struct PlainJSONScanner {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0
  /// Maximum nesting that is recognised.
  private static let depth = 128

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  /// Whether the text is an object that is not empty, of texts without escapes, integers and flags.
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

  /// Whether the text is one JSON value in the subset.
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
      // Ascending, and so none twice.
      if let previous, !previous.lexicographicallyPrecedes(key) { return false }
      // Of others, two may be one key to Swift: letters combine.
      guard key.allSatisfy({ $0 < 0x80 }) else { return false }
      previous = key
      guard isValue(&self) else { return false }
    } while take(",")
    return take("}")
  }

  // MARK: Numbers

  /// Whether an integer of at most 18 digits without leading zeros follows: any fits into 64 bits.
  private mutating func isInteger() -> Bool {
    let isNegative = take("-")
    let start = position
    skipDigits()
    guard (1...18).contains(position - start) else { return false }
    return bytes[start] != 0x30 || (position - start == 1 && !isNegative)
  }

  /// An integer, or a fraction as Swift prints the double that it is.
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
    // Seventeen digits, and what stands with them.
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

  /// A text without escapes.
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
