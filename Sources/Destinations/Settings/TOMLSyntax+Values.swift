extension TOMLSyntax {
  /// Reads a value.
  ///
  /// - Parameter depth: the number of arrays and tables that contain it.
  mutating func value(depth: Int) throws(Mistake) {
    switch byte {
    case UInt8(ascii: "\""):
      if take("\"\"\"") { try longText() } else { try shortText() }
    case UInt8(ascii: "'"):
      if take("'''") { try longLiteral() } else { try shortLiteral() }
    case UInt8(ascii: "["): try array(depth: depth + 1)
    case UInt8(ascii: "{"): try table(depth: depth + 1)
    case let byte? where Self.isOfWord(byte): try word()
    default: throw mistake("here a value is expected: a text is in quotation marks.")
    }
  }

  // MARK: Arrays and tables

  private func requireShallow(_ depth: Int) throws(Mistake) {
    guard depth <= Self.deepest else { throw mistake("values are nested more than \(Self.deepest) times.") }
  }

  private mutating func array(depth: Int) throws(Mistake) {
    try requireShallow(depth)
    let start = index
    _ = take("[")
    while true {
      try skipBlankLines()
      if take("]") { return }
      guard byte != nil else { throw mistake("this list has no end: ] is missing.", at: start) }
      try value(depth: depth)
      try skipBlankLines()
      if take("]") { return }
      guard take(",") else {
        throw byte == nil
          ? mistake("this list has no end: ] is missing.", at: start)
          : mistake("between two values of a list a comma is expected.")
      }
    }
  }

  private mutating func skipBlankLines() throws(Mistake) {
    repeat {
      skipBlanks()
      try skipComment()
    } while takeLineEnd()
  }

  /// Reads an inline table, which must be on one line and have no comma at its end.
  private mutating func table(depth: Int) throws(Mistake) {
    try requireShallow(depth)
    let start = index
    _ = take("{")
    skipBlanks()
    if take("}") { return }
    while true {
      skipBlanks()
      try setting(depth: depth)
      skipBlanks()
      if take("}") { return }
      guard take(",") else { throw mistake("this table has no end on its line: } is missing.", at: start) }
    }
  }

  // MARK: Texts

  mutating func shortText() throws(Mistake) {
    let start = index
    _ = take("\"")
    while let byte, byte != UInt8(ascii: "\n") {
      if take("\"") { return }
      if byte == UInt8(ascii: "\\") {
        try escape()
      } else {
        try requireNoControl(byte)
        index += 1
      }
    }
    throw mistake("this text has no end: \" is missing.", at: start)
  }

  mutating func shortLiteral() throws(Mistake) {
    let start = index
    _ = take("'")
    while let byte, byte != UInt8(ascii: "\n") {
      if take("'") { return }
      try requireNoControl(byte)
      index += 1
    }
    throw mistake("this text has no end: ' is missing.", at: start)
  }

  /// Reads the rest of a multiline text after its opening marks.
  private mutating func longText() throws(Mistake) {
    let start = index - 3
    while let byte {
      if take("\"\"\"") { return takeUpToTwo(UInt8(ascii: "\"")) }
      if takeLineEnd() { continue }
      if byte == UInt8(ascii: "\\") {
        if !takeJoint() { try escape() }
      } else {
        try requireNoControl(byte)
        index += 1
      }
    }
    throw mistake("this text has no end: \"\"\" is missing.", at: start)
  }

  private mutating func longLiteral() throws(Mistake) {
    let start = index - 3
    while let byte {
      if take("'''") { return takeUpToTwo(UInt8(ascii: "'")) }
      if takeLineEnd() { continue }
      try requireNoControl(byte)
      index += 1
    }
    throw mistake("this text has no end: ''' is missing.", at: start)
  }

  /// Takes up to two marks that belong to the text and precede the closing marks.
  private mutating func takeUpToTwo(_ mark: UInt8) {
    for _ in 0..<2 where byte == mark { index += 1 }
  }

  /// Takes a backslash at the end of a line, which joins the line with the next.
  private mutating func takeJoint() -> Bool {
    let start = index
    _ = take("\\")
    skipBlanks()
    if takeLineEnd() { return true }
    index = start
    return false
  }

  private mutating func escape() throws(Mistake) {
    let start = index
    _ = take("\\")
    guard let kind = byte else { throw mistake("this text has no end.", at: start) }
    index += 1
    let count: Int
    switch kind {
    case UInt8(ascii: "b"), UInt8(ascii: "t"), UInt8(ascii: "n"), UInt8(ascii: "f"), UInt8(ascii: "r"),
      UInt8(ascii: "\""), UInt8(ascii: "\\"):
      return
    case UInt8(ascii: "u"): count = 4
    case UInt8(ascii: "U"): count = 8
    default:
      throw mistake("this is no escape: a backslash is written \\\\, or the text put into '…'.", at: start)
    }
    let digits = bytes[index..<min(index + count, bytes.count)]
    guard digits.count == count, digits.allSatisfy(Self.isHexadecimal),
      UInt32(String(decoding: digits, as: UTF8.self), radix: 16).flatMap(Unicode.Scalar.init) != nil
    else { throw mistake("this is no character's number.", at: start) }
    index += count
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  // MARK: Numbers, dates, Booleans

  private static func isOfWord(_ byte: UInt8) -> Bool {
    isBare(byte) || [UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: ":")].contains(byte)
  }

  private mutating func word() throws(Mistake) {
    let start = index
    while let byte, Self.isOfWord(byte) { index += 1 }
    // A date and a time may be separated by a space.
    if index - start == 10, Self.isDate(bytes[start..<index]), byte == UInt8(ascii: " "),
      byte(after: 1).map(Self.isDigit) == true
    {
      index += 1
      while let byte, Self.isOfWord(byte) { index += 1 }
    }
    let word = bytes[start..<index]
    let isTruth = word.elementsEqual("true".utf8) || word.elementsEqual("false".utf8)
    guard isTruth || Self.isTime(word) || Self.isNumber(word) else {
      throw mistake("this is no number, date, true or false: a text is in quotation marks.", at: start)
    }
  }

  /// Returns whether bytes match a pattern in which 0 stands for any digit.
  private static func matches(_ bytes: ArraySlice<UInt8>, _ pattern: String) -> Bool {
    bytes.count == pattern.utf8.count
      && zip(bytes, pattern.utf8).allSatisfy { $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1 }
  }

  private static func isDate(_ bytes: ArraySlice<UInt8>) -> Bool { matches(bytes, "0000-00-00") }

  /// Returns whether bytes are a date, a time, or both with or without an offset.
  private static func isTime(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    let hasDate = isDate(rest.prefix(10))
    if hasDate {
      rest = rest.dropFirst(10)
      guard let mark = rest.popFirst() else { return true }
      guard mark | 0x20 == UInt8(ascii: "t") || mark == UInt8(ascii: " ") else { return false }
    }
    guard matches(rest.prefix(8), "00:00:00") else { return false }
    rest = rest.dropFirst(8)
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      let digits = rest.prefix(while: isDigit)
      guard !digits.isEmpty else { return false }
      rest = rest.dropFirst(digits.count)
    }
    if rest.isEmpty { return true }
    guard hasDate else { return false }
    return rest.elementsEqual("Z".utf8) || rest.elementsEqual("z".utf8) || matches(rest, "+00:00")
      || matches(rest, "-00:00")
  }

  private static func isNumber(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    let base = rest.prefix(2)
    for (prefix, isDigit) in [("0x", isHexadecimal), ("0o", isOctal), ("0b", isBinary)]
    where base.elementsEqual(prefix.utf8) {
      rest = rest.dropFirst(2)
      return takeDigits(&rest, isDigit) > 0 && rest.isEmpty
    }
    takeSign(&rest)
    if rest.elementsEqual("inf".utf8) || rest.elementsEqual("nan".utf8) { return true }
    let hasZero = rest.first == UInt8(ascii: "0")
    let count = takeDigits(&rest, isDigit)
    guard count == 1 || count > 1 && !hasZero else { return false }
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      guard takeDigits(&rest, isDigit) > 0 else { return false }
    }
    if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
      rest = rest.dropFirst()
      takeSign(&rest)
      guard takeDigits(&rest, isDigit) > 0 else { return false }
    }
    return rest.isEmpty
  }

  private static func isOctal(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(byte) }
  private static func isBinary(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "0") || byte == UInt8(ascii: "1") }

  private static func takeSign(_ rest: inout ArraySlice<UInt8>) {
    if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
  }

  /// Takes digits, with single underscores between them.
  ///
  /// - Returns: the number of bytes.
  private static func takeDigits(_ rest: inout ArraySlice<UInt8>, _ isDigit: (UInt8) -> Bool) -> Int {
    let before = rest.count
    while let byte = rest.first, isDigit(byte) {
      rest = rest.dropFirst()
      if rest.first == UInt8(ascii: "_"), let next = rest.dropFirst().first, isDigit(next) { rest = rest.dropFirst() }
    }
    return before - rest.count
  }
}
