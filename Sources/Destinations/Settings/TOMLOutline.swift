/// The lines of all keys in a TOML document, without their values. In a text that is not valid TOML it finds as many
/// as possible.
struct TOMLOutline {
  struct Entry: Hashable {
    /// The keys from the root: `["destination", "home", "url"]`.
    var path: [String]
    /// Whether the entry is a header such as `[destination.home]`, not `url = …`.
    var isHeader: Bool
    /// The header above the entry.
    var header: [String]
    /// The line of the key, from 1.
    var line: Int
    /// The line at which the value ends.
    var lastLine: Int
  }

  private(set) var entries: [Entry] = []
  private let bytes: [UInt8]
  private var index = 0
  private var line = 1

  init(_ text: String) {
    bytes = Array(text.utf8)
    // A byte order mark, which some editors write, belongs to no key.
    if bytes.starts(with: "\u{FEFF}".utf8) { index = 3 }
    var header: [String] = []
    while skipBlank() {
      let first = line
      if take("[") {
        _ = take("[")
        header = key(until: "]")
        skipLine()
        entries.append(Entry(path: header, isHeader: true, header: header, line: first, lastLine: first))
      } else {
        let path = header + key(until: "=")
        skipValue()
        entries.append(Entry(path: path, isHeader: false, header: header, line: first, lastLine: line))
        skipLine()
      }
    }
  }

  /// Returns the line of a key, or of the nearest table that contains it, or `nil` if neither is in the text.
  func line(of path: [String]) -> Int? {
    for count in stride(from: path.count, to: 0, by: -1) {
      let part = Array(path.prefix(count))
      let entry = entries.first { $0.path == part } ?? entries.first { $0.path.starts(with: part) }
      if let entry { return entry.line }
    }
    return nil
  }

  // MARK: Bytes

  private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard byte == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  /// Skips blanks, line ends and comments, and returns whether anything follows.
  private mutating func skipBlank() -> Bool {
    while let byte {
      switch byte {
      case UInt8(ascii: "\n"):
        line += 1
        index += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): index += 1
      case UInt8(ascii: "#"): skipLine()
      default: return true
      }
    }
    return false
  }

  /// Skips to the end of the line, without the line end.
  private mutating func skipLine() {
    while let byte, byte != UInt8(ascii: "\n") { index += 1 }
  }

  /// Reads a dotted key up to and including the mark after it, or to the end of the line.
  private mutating func key(until end: Unicode.Scalar) -> [String] {
    var parts: [String] = []
    var bare: [UInt8] = []
    func finish(_ bare: inout [UInt8], _ parts: inout [String]) {
      if !bare.isEmpty { parts.append(String(decoding: bare, as: UTF8.self)) }
      bare = []
    }
    while let byte, byte != UInt8(ascii: "\n") {
      switch byte {
      case UInt8(ascii: end):
        finish(&bare, &parts)
        index += 1
        return parts
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        parts.append(quoted())
      case UInt8(ascii: "."):
        finish(&bare, &parts)
        index += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): index += 1
      default:
        bare.append(byte)
        index += 1
      }
    }
    finish(&bare, &parts)
    return parts
  }

  /// Reads a key in quotation marks.
  private mutating func quoted() -> String {
    let mark = bytes[index]
    index += 1
    var text: [UInt8] = []
    while let byte, byte != UInt8(ascii: "\n") {
      index += 1
      if byte == mark { break }
      if byte == UInt8(ascii: "\\"), mark == UInt8(ascii: "\""), let next = self.byte, next != UInt8(ascii: "\n") {
        index += 1
        text += escaped(next)
      } else {
        text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the character of an escape, after the backslash and the character that follows it have been read.
  private mutating func escaped(_ character: UInt8) -> [UInt8] {
    switch character {
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "u"), UInt8(ascii: "U"):
      let digits = bytes[index...].prefix(character == UInt8(ascii: "u") ? 4 : 8)
      guard let scalar = UInt32(String(decoding: digits, as: UTF8.self), radix: 16).flatMap(Unicode.Scalar.init)
      else { return [character] }
      index += digits.count
      return Array(String(Character(scalar)).utf8)
    default: return [character]
    }
  }

  /// Skips a value, up to the end of the line on which it ends.
  private mutating func skipValue() {
    var depth = 0
    while let byte {
      switch byte {
      case UInt8(ascii: "\n"):
        if depth <= 0 { return }
        line += 1
        index += 1
      case UInt8(ascii: "#"): skipLine()
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        index += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        depth -= 1
        index += 1
      case UInt8(ascii: "\""), UInt8(ascii: "'"): skipText(byte)
      default: index += 1
      }
    }
  }

  private mutating func skipText(_ mark: UInt8) {
    let isLong = index + 2 < bytes.count && bytes[index + 1] == mark && bytes[index + 2] == mark
    index += isLong ? 3 : 1
    while let byte {
      if byte == UInt8(ascii: "\n") {
        // A text on a single line must have ended before.
        if !isLong { return }
        line += 1
      }
      if byte == UInt8(ascii: "\\"), mark == UInt8(ascii: "\"") {
        // A line end after a backslash counts as well.
        if index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "\n") { line += 1 }
        index = min(index + 2, bytes.count)
        continue
      }
      index += 1
      guard byte == mark else { continue }
      if !isLong { return }
      if index + 1 < bytes.count, bytes[index] == mark, bytes[index + 1] == mark {
        index += 2
        // The text itself may end with up to two more marks.
        while self.byte == mark { index += 1 }
        return
      }
    }
  }
}
