import HealthModel

/// An output that prints elements in the style of Apple's export: one a line, indented by depth, with all content in
/// attributes. Alternatively, it collects the elements without printing them.
struct XMLOutput {
  private(set) var bytes: [UInt8] = []
  /// The collected elements, if they are not printed.
  private var kept: KeptElements?
  private var open: [String] = []
  /// Whether the last start tag is still open.
  private var isInTag = false
  /// The names of the attributes written for the element that was started last.
  private var names: [String] = []

  /// Creates an output.
  ///
  /// - Parameter keepsElements: whether elements are collected for ``takeElements()`` instead of printed.
  init(keepsElements: Bool = false) { kept = keepsElements ? KeptElements() : nil }

  mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

  mutating func start(_ name: String) {
    if kept != nil {
      kept?.start(name)
      names.removeAll(keepingCapacity: true)
      return isInTag = true
    }
    finishTag(">\n")
    bytes.append(contentsOf: repeatElement(0x20, count: open.count))
    bytes.append(UInt8(ascii: "<"))
    write(name)
    open.append(name)
    names.removeAll(keepingCapacity: true)
    isInTag = true
  }

  /// Adds an attribute to the current element, unless `value` is `nil`.
  mutating func attribute(_ name: String, _ value: String?) {
    guard let value else { return }
    names.append(name)
    if kept != nil {
      kept?.attribute(name, value)
      return
    }
    bytes.append(UInt8(ascii: " "))
    write(name)
    bytes.append("=\"")
    Self.append(escaped: value, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Adds an attribute whose name may be invalid or already used.
  ///
  /// - Returns: false, with nothing written, for such a name.
  mutating func attribute(other name: String, _ value: String) -> Bool {
    guard isInTag, Self.isName(name), !names.contains(name) else { return false }
    attribute(name, value)
    return true
  }

  mutating func end() {
    if kept != nil {
      kept?.end()
      return isInTag = false
    }
    guard let name = open.popLast() else { return }
    if isInTag {
      isInTag = false
      write("/>\n")
    } else {
      bytes.append(contentsOf: repeatElement(0x20, count: open.count))
      write("</\(name)>\n")
    }
  }

  private mutating func finishTag(_ text: String) {
    if isInTag { write(text) }
    isInTag = false
  }

  /// Returns the bytes that have been written since the last call.
  mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  /// Returns the elements that have ended since the last call.
  mutating func takeElements() -> [WrittenElement] { kept?.take() ?? [] }

  /// Appends an escaped attribute value, without characters that XML 1.0 does not allow (section 2.2).
  static func append(escaped text: String, to bytes: inout [UInt8]) {
    var text = text
    text.withUTF8 { append(escaped: $0, to: &bytes) }
  }

  private static func append(escaped text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    guard text.contains(where: isSpecial) else { return bytes.append(contentsOf: text) }
    var index = 0
    while index < text.count {
      let byte = text[index]
      if isNoncharacter(text, index) {
        index += 3
        continue
      }
      index += 1
      switch byte {
      case UInt8(ascii: "&"): bytes.append("&amp;")
      case UInt8(ascii: "<"): bytes.append("&lt;")
      case UInt8(ascii: ">"): bytes.append("&gt;")
      case UInt8(ascii: "\""): bytes.append("&quot;")
      // A parser would turn these into spaces (section 3.3.3).
      case 0x09, 0x0A, 0x0D: bytes.append(contentsOf: "&#\(byte);".utf8)
      case _ where isUnsayable(byte): break
      default: bytes.append(byte)
      }
    }
  }

  private static func isSpecial(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "&") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
      || byte == UInt8(ascii: "\"") || byte == noncharacterStart
  }

  private static func isUnsayable(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D }

  /// The first byte of U+FFFE and U+FFFF in UTF-8.
  private static let noncharacterStart: UInt8 = 0xEF

  private static func isNoncharacter(_ text: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
    text[index] == noncharacterStart && index + 2 < text.count && text[index + 1] == 0xBF && text[index + 2] >= 0xBE
  }

  /// Returns a text without the characters that XML 1.0 does not allow.
  static func sayable(_ text: String) -> String {
    guard text.utf8.contains(where: { isUnsayable($0) || $0 == noncharacterStart }) else { return text }
    var kept = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if let byte = UInt8(exactly: scalar.value), isUnsayable(byte) { continue }
      if scalar.value != 0xFFFE, scalar.value != 0xFFFF { kept.append(scalar) }
    }
    return String(kept)
  }

  /// Returns whether a text is valid as the name of an element or attribute.
  static func isName(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, isNameStart(first) else { return false }
    return text.unicodeScalars.allSatisfy {
      isNameStart($0) || ("0"..."9").contains($0) || $0 == "-" || $0 == "." || $0 == ":"
    }
  }

  /// Returns whether all parsers accept the character at the start of a name. Not every letter is a `NameStartChar`
  /// (section 2.3).
  private static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x41...0x5A, 0x5F, 0x61...0x7A: true
    case 0xC0...0x2FF, 0x370...0x1FFF, 0x3001...0xD7FF: scalar.properties.isAlphabetic
    default: false
    }
  }
}
