import Foundation

/// The parsing of single tags in the buffer.
extension XMLScanner {
  /// Reads a closing tag. Returns `nil` if the tag was incomplete and more input has been read.
  mutating func closeTag() throws(ImportError) -> Token? {
    let rest = Bytes(buffer + position + 2, filled - position - 2)
    // Whichever of the two comes first decides, so that a run of `</` is read once.
    var end = 0
    while end < rest.count, rest[end] != UInt8(ascii: ">"), rest[end] != UInt8(ascii: "<") { end += 1 }
    guard end < rest.count else { return try refill(keeping: position) ? nil : endInsideTag() }
    if rest[end] == UInt8(ascii: "<") {
      position += 2 + end
      return .malformed
    }
    name = Bytes(rest.start, end).trimmed
    position += 2 + end + 1
    return .close
  }

  enum OpenTag { case whole, malformed, unfinished }

  mutating func openTag() -> OpenTag {
    let end = UnsafePointer(buffer + filled)
    var next = UnsafePointer(buffer + position + 1)
    let nameStart = next
    while next < end, !Self.endsName(next.pointee) { next += 1 }
    if next == end { return .unfinished }
    if next == nameStart { return .malformed }
    name = Bytes(nameStart, next - nameStart)
    removeAttributes()
    while true {
      while next < end, next.pointee <= 0x20 { next += 1 }
      if next == end { return .unfinished }
      if next.pointee == UInt8(ascii: ">") { return finish(at: next, selfClosing: false) }
      if next.pointee == UInt8(ascii: "/") {
        if next + 1 == end { return .unfinished }
        return next[1] == UInt8(ascii: ">") ? finish(at: next + 1, selfClosing: true) : .malformed
      }
      let attributeStart = next
      // Every byte that can end a name is at or below `>`.
      while next < end, next.pointee > 0x3E || !Self.endsAttributeName(next.pointee) { next += 1 }
      if next == end { return .unfinished }
      if next.pointee == UInt8(ascii: ">") {
        valuelessAttributes += 1
        return finish(at: next, selfClosing: next[-1] == UInt8(ascii: "/"))
      }
      guard next.pointee == UInt8(ascii: "=") else { return .malformed }
      let attributeName = Bytes(attributeStart, next - attributeStart)
      next += 1
      while next < end, next.pointee <= 0x20 { next += 1 }
      if next == end { return .unfinished }
      let quote = next.pointee
      guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return .malformed }
      next += 1
      guard let close = memchr(next, Int32(quote), end - next) else { return .unfinished }
      let length = UnsafeRawPointer(close) - UnsafeRawPointer(next)
      let value = Bytes(next, length)
      next += length + 1
      if next == end { return .unfinished }
      // Anything else after a value means that a quote was lost somewhere before.
      guard next.pointee <= 0x20 || next.pointee == UInt8(ascii: "/") || next.pointee == UInt8(ascii: ">") else {
        return .malformed
      }
      if attributeCount == Self.maximumAttributes { return .malformed }
      append(Attribute(name: attributeName.trimmed, value: value))
    }
  }

  private mutating func finish(at closing: UnsafePointer<UInt8>, selfClosing: Bool) -> OpenTag {
    isSelfClosing = selfClosing
    position = closing + 1 - UnsafePointer(buffer)
    return .whole
  }

  private static func endsName(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "<")
      || byte == UInt8(ascii: "=") || byte == UInt8(ascii: "\"")
  }

  private static func endsAttributeName(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "=") || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: "\"")
  }
}

extension XMLScanner {
  /// Returns the undecoded text between the last tag and the next one, or `nil` if it is longer than `limit` or the
  /// source ends first. Valid until the next call.
  mutating func text(limit: Int) throws(ImportError) -> Bytes? {
    while true {
      if let end = Bytes(buffer + position, filled - position).firstIndex(of: UInt8(ascii: "<")) {
        let text = Bytes(buffer + position, end)
        position += end
        return end <= limit ? text : nil
      }
      // The rest of the text is skipped as text between tags.
      if filled - position > limit { return nil }
      if try !refill(keeping: position) { return nil }
    }
  }
}

extension XMLScanner {
  /// Skips everything before the first start tag of the root element, except in comments. Returns false if there is
  /// none.
  ///
  /// - Parameters:
  ///   - root: the name of the root element.
  ///   - comment: called with the first bytes of each comment. Apple writes the version of the export in one.
  mutating func skipProlog(
    root: StaticString = "HealthData", comment: (String) -> Void
  ) throws(ImportError) -> Bool {
    while true {
      guard let found = Bytes(buffer + position, filled - position).firstIndex(of: UInt8(ascii: "<")) else {
        position = filled
        if try !refill(keeping: filled) { return false }
        continue
      }
      position += found
      // Enough for `<HealthData ` and for the text of a short comment.
      if filled - position < 256, try refill(keeping: position) { continue }
      let rest = Bytes(buffer + position, filled - position)
      if rest.hasPrefix("<!--") {
        let text = Bytes(rest.start, min(rest.count, 256))
        comment(text.text)
        if try !skip(past: "-->", from: position + 4) { return false }
      } else if rest.dropFirst(1).hasPrefix(root), rest.count > root.utf8CodeUnitCount + 1,
        Self.delimits(rest[root.utf8CodeUnitCount + 1])
      {
        return true
      } else {
        position += 1
      }
    }
  }

  private static func delimits(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/")
  }
}
