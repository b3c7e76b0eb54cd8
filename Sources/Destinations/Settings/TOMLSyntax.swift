/// A checker that finds the first violation of the TOML 1.0 grammar (toml.io/en/v1.0.0): TOMLKit's parser ends the
/// process at some of them. Duplicate keys and impossible numbers or dates are left to that parser.
struct TOMLSyntax {
  struct Mistake: Error, Hashable {
    /// The line, from 1.
    var line: Int
    /// The column, from 1, in Unicode scalars.
    var column: Int
    /// A sentence that contains nothing of the text.
    var reason: String
  }

  /// The maximum nesting of arrays and tables, and number of parts of a key: deeper nesting could exhaust the stack.
  static let deepest = 64

  let bytes: [UInt8]
  var index = 0

  /// Returns the first violation in a text, or `nil`.
  ///
  /// - Parameter text: must not contain NUL.
  static func mistake(in text: String) -> Mistake? {
    var syntax = TOMLSyntax(bytes: Array(text.utf8))
    do throws(Mistake) {
      try syntax.document()
      return nil
    } catch {
      return error
    }
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  // MARK: Bytes

  var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

  func byte(after count: Int) -> UInt8? { index + count < bytes.count ? bytes[index + count] : nil }

  mutating func take(_ text: String) -> Bool {
    guard bytes[index...].starts(with: text.utf8) else { return false }
    index += text.utf8.count
    return true
  }

  /// Returns an error at a place.
  ///
  /// - Parameter place: the index of the wrong byte; the current one by default.
  func mistake(_ reason: String, at place: Int? = nil) -> Mistake {
    let before = bytes[..<min(place ?? index, bytes.count)]
    let line = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let column = before[line...].count { $0 & 0xC0 != 0x80 }
    return Mistake(line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: column + 1, reason: reason)
  }

  mutating func skipBlanks() {
    while byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { index += 1 }
  }

  /// Takes a line end, and returns whether there was one.
  mutating func takeLineEnd() -> Bool { take("\n") || take("\r\n") }

  /// Skips a comment, if there is one, up to the end of its line.
  mutating func skipComment() throws(Mistake) {
    guard take("#") else { return }
    while let byte, byte != UInt8(ascii: "\n"),
      !(byte == UInt8(ascii: "\r") && self.byte(after: 1) == UInt8(ascii: "\n"))
    {
      try requireNoControl(byte)
      index += 1
    }
  }

  func requireNoControl(_ byte: UInt8) throws(Mistake) {
    guard byte >= 0x20 && byte != 0x7F || byte == UInt8(ascii: "\t") else {
      throw mistake("there is a control character, which TOML has only as an escape such as \\u001B.")
    }
  }

  // MARK: Lines

  private mutating func document() throws(Mistake) {
    _ = take("\u{FEFF}")
    while true {
      skipBlanks()
      try skipComment()
      if takeLineEnd() { continue }
      guard let byte else { return }
      if byte == UInt8(ascii: "[") { try header() } else { try setting(depth: 0) }
      skipBlanks()
      try skipComment()
      guard self.byte == nil || takeLineEnd() else {
        throw mistake("there is more on this line than belongs to it.")
      }
    }
  }

  private mutating func header() throws(Mistake) {
    let start = index
    let isOneOfSeveral = take("[[")
    if !isOneOfSeveral { _ = take("[") }
    skipBlanks()
    guard byte.map(Self.beginsKey) == true else {
      throw mistake("a table has a name, such as [destination.home].", at: start)
    }
    try key()
    guard isOneOfSeveral ? take("]]") : take("]") else {
      throw mistake("the name of a table ends with \(isOneOfSeveral ? "]]" : "]").")
    }
  }

  /// Reads `key = value`.
  mutating func setting(depth: Int) throws(Mistake) {
    guard byte.map(Self.beginsKey) == true else {
      throw mistake("here a setting is expected, such as path = \"/mnt/health\".")
    }
    try key()
    guard take("=") else { throw mistake("after the name of a setting = is expected.") }
    skipBlanks()
    try value(depth: depth)
  }

  // MARK: Keys

  static func isBare(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  static func beginsKey(_ byte: UInt8) -> Bool {
    isBare(byte) || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
  }

  /// Reads a dotted key and the blanks after it.
  private mutating func key() throws(Mistake) {
    for _ in 0..<Self.deepest {
      switch byte {
      case UInt8(ascii: "\""): try shortText()
      case UInt8(ascii: "'"): try shortLiteral()
      case let byte? where Self.isBare(byte): while let byte = self.byte, Self.isBare(byte) { index += 1 }
      default:
        throw mistake("a name is of letters, digits, - and _, or in quotation marks.")
      }
      skipBlanks()
      guard take(".") else { return }
      skipBlanks()
    }
    throw mistake("a name has more than \(Self.deepest) parts.")
  }
}
