import Foundation

/// One tag, as far as it is in the buffer.
extension XMLScanner {
  /// `nil` when the tag was not whole and more has been read.
  mutating func closeTag() throws(ImportError) -> Token? {
    let rest = Bytes(buffer + position + 2, filled - position - 2)
    guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else {
      return try refill(keeping: position) ? nil : endInsideTag()
    }
    let inside = Bytes(rest.start, end)
    if let other = inside.firstIndex(of: UInt8(ascii: "<")) {
      position += 2 + other
      return .malformed
    }
    name = inside.trimmed
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
