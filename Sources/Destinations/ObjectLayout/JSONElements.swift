/// A reader that divides the text of a JSON array into the texts of its elements, which must be objects. It only
/// counts brackets: a decoder must check each element.
struct JSONElements {
  private let bytes: [UInt8]
  private var index = 0
  private var isFirst = true
  /// Whether the array has been read to its end, with nothing but white space after it.
  private(set) var isAtEnd = false

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns the next element, or `nil` after the last and before anything that is not an object.
  mutating func next() -> ArraySlice<UInt8>? {
    if isAtEnd { return nil }
    if isFirst {
      guard take(UInt8(ascii: "[")) else { return nil }
    }
    if take(UInt8(ascii: "]")) {
      skipSpace()
      isAtEnd = index == bytes.count
      index = bytes.count
      return nil
    }
    guard isFirst || take(UInt8(ascii: ",")) else { return nil }
    isFirst = false
    skipSpace()
    guard index < bytes.count, bytes[index] == UInt8(ascii: "{"), let end = endOfObject() else { return nil }
    defer { index = end }
    return bytes[index..<end]
  }

  private func endOfObject() -> Int? {
    var (depth, index) = (0, index)
    var isString = false
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if isString {
        if byte == UInt8(ascii: "\\") { index += 1 }
        if byte == UInt8(ascii: "\"") { isString = false }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return index }
      default: break
      }
    }
    return nil
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  private mutating func skipSpace() {
    while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
  }
}
