import Foundation

/// A lenient scanner for the tags of an XML text, which reads a stream of bytes in constant memory.
///
/// The document type declaration is not parsed: everything up to the first `<HealthData` outside a comment is
/// skipped. Attribute names extend to the `=` and may contain spaces. Values are in single or double quotes and may
/// contain `>`. A tag that cannot be read is reported as malformed, and scanning continues at the next `<`.
struct XMLScanner: ~Copyable {
  enum Token {
    case open, close
    /// A tag that cannot be parsed and was skipped.
    case malformed
    /// Text between tags, which no export has.
    case text
    case end
  }

  struct Attribute {
    var name: Bytes
    var value: Bytes
  }

  /// The maximum size of a tag in bytes.
  static let maximumTag = 8 << 20
  /// The maximum number of attributes. A tag with more is skipped as malformed.
  static let maximumAttributes = 4096

  /// The number of readable bytes after the buffer's content, for readers that read eight bytes at a time.
  private static let slack = 8

  let source: any ByteSource
  private let chunkSize: Int
  private(set) var buffer: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  /// The index of the next byte to scan. ``filled`` is the end of the buffer's content.
  var position = 0
  var filled = 0
  private var isAtEnd = false
  /// The index at which the last token begins, for messages. Valid until the next call.
  private var tokenStart = 0
  /// The position at which the last token begins, if its bytes have been dropped from the buffer.
  private var droppedTokenStart: TextPosition?

  // These describe `buffer[0]`; updated when bytes before it are dropped.
  private var dropped: Int64 = 0
  private var droppedLines = 0
  private var lineStart: Int64 = 0
  /// The number of lines that end before an index of the buffer, cached for ``tokenLine()``.
  private var counted = (end: 0, lines: 0)

  /// The name in the last `open` or `close` token. Valid until the next call, like everything that points into the
  /// buffer.
  var name = Bytes(StaticString("").utf8Start, 0)
  var isSelfClosing = false
  private(set) var attributeCount = 0
  private var attributes: UnsafeMutablePointer<Attribute>
  private var attributeCapacity = 64
  /// The number of attributes without a value in the last tag.
  var valuelessAttributes = 0
  /// Whether the source ended inside a tag or a comment.
  private(set) var endsInsideTag = false

  init(source: any ByteSource, chunkSize: Int) {
    self.source = source
    self.chunkSize = chunkSize
    capacity = 2 * chunkSize
    buffer = .allocate(capacity: capacity + Self.slack)
    attributes = .allocate(capacity: attributeCapacity)
  }

  deinit {
    buffer.deallocate()
    attributes.deallocate()
    source.close()
  }

  /// The number of bytes that have been read from the source.
  var bytesRead: Int64 { dropped + Int64(filled) }

  func attribute(_ index: Int) -> Attribute { attributes[index] }

  /// The position at which the last token begins.
  var tokenPosition: TextPosition { droppedTokenStart ?? position(of: tokenStart) }

  /// The offset at which the last token begins, in bytes from the beginning of the source.
  var tokenOffset: Int64 { droppedTokenStart?.offset ?? dropped + Int64(tokenStart) }

  /// The offset at which scanning continues, in bytes from the beginning of the source.
  var offset: Int64 { dropped + Int64(position) }

  /// Returns the line in which the last token begins. Counts on from the previous call, which is faster than
  /// ``tokenPosition``.
  mutating func tokenLine() -> Int {
    if let droppedTokenStart { return droppedTokenStart.line }
    if tokenStart < counted.end { counted = (0, 0) }
    counted.lines += newlines(in: counted.end..<tokenStart).count
    counted.end = tokenStart
    return droppedLines + counted.lines + 1
  }

  mutating func next() throws(ImportError) -> Token {
    while true {
      while position < filled, buffer[position] <= 0x20 { position += 1 }
      tokenStart = position
      droppedTokenStart = nil
      if position == filled {
        if try !refill(keeping: position) { return .end }
        continue
      }
      if buffer[position] != UInt8(ascii: "<") {
        try skipToTag()
        return .text
      }
      // This many bytes tell all kinds of tags apart; the longest beginning is `<![CDATA[`.
      if filled - position < 9, try refill(keeping: position) { continue }
      guard position + 1 < filled else { return endInsideTag() }
      switch buffer[position + 1] {
      case UInt8(ascii: "/"):
        if let token = try closeTag() { return token }
      case UInt8(ascii: "!"):
        let rest = Bytes(buffer + position, filled - position)
        if rest.hasPrefix("<!--") {
          guard try skip(past: "-->", from: position + 4) else { return endInsideTag() }
        } else if rest.hasPrefix("<![CDATA[") {
          return try skip(past: "]]>", from: position + 9) ? .text : endInsideTag()
        } else {
          return try skip(past: ">", from: position + 2) ? .malformed : endInsideTag()
        }
      case UInt8(ascii: "?"):
        guard try skip(past: "?>", from: position + 2) else { return endInsideTag() }
      default:
        switch openTag() {
        case .whole: return .open
        case .malformed:
          position += 1
          try skipToTag()
          return .malformed
        case .unfinished:
          if try !refill(keeping: position) { return endInsideTag() }
        }
      }
    }
  }

  mutating func endInsideTag() -> Token {
    endsInsideTag = true
    tokenStart = min(position, filled)
    droppedTokenStart = nil
    return .end
  }

  // MARK: Attributes

  mutating func removeAttributes() {
    attributeCount = 0
    valuelessAttributes = 0
  }

  mutating func append(_ attribute: Attribute) {
    if attributeCount == attributeCapacity {
      let larger = UnsafeMutablePointer<Attribute>.allocate(capacity: attributeCapacity * 2)
      larger.update(from: attributes, count: attributeCount)
      attributes.deallocate()
      attributes = larger
      attributeCapacity *= 2
    }
    attributes[attributeCount] = attribute
    attributeCount += 1
  }

  // MARK: Skipping

  /// Moves to the next `<`, or to the end.
  private mutating func skipToTag() throws(ImportError) {
    while true {
      if let found = Bytes(buffer + position, filled - position).firstIndex(of: UInt8(ascii: "<")) {
        position += found
        return
      }
      position = filled
      if try !refill(keeping: filled) { return }
    }
  }

  /// Moves past `terminator`, which must end with `>`, searching from `start`. Returns false if the source ends
  /// first.
  mutating func skip(past terminator: StaticString, from start: Int) throws(ImportError) -> Bool {
    let length = terminator.utf8CodeUnitCount
    position = min(start, filled)
    var search = position + length - 1
    while true {
      while search < filled, let found = Bytes(buffer + search, filled - search).firstIndex(of: UInt8(ascii: ">")) {
        search += found
        if Bytes(buffer + search - length + 1, length) == terminator {
          position = search + 1
          return true
        }
        search += 1
      }
      let kept = max(position, min(search, filled) - length + 1)
      search = max(search - kept, length - 1)
      position = kept
      if try !refill(keeping: kept) {
        position = filled
        return false
      }
    }
  }

  /// Drops the bytes before `kept` and reads more. Returns false at the end of the source.
  mutating func refill(keeping kept: Int) throws(ImportError) -> Bool {
    if isAtEnd {
      return false
    }
    drop(kept)
    if filled > Self.maximumTag { throw .tooLarge(what: "an element", at: position(of: 0)) }
    if filled + chunkSize > capacity {
      let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity * 2 + Self.slack)
      larger.update(from: buffer, count: filled)
      buffer.deallocate()
      buffer = larger
      capacity *= 2
    }
    let count = try source.read(into: buffer + filled, count: chunkSize)
    if count == 0 { isAtEnd = true }
    filled += count
    return count > 0
  }

  private mutating func drop(_ count: Int) {
    if tokenStart < count, droppedTokenStart == nil { droppedTokenStart = position(of: tokenStart) }
    let (lines, last) = newlines(in: 0..<count)
    droppedLines += lines
    counted = (0, 0)
    if let last { lineStart = dropped + Int64(last) + 1 }
    if count < filled { memmove(buffer, buffer + count, filled - count) }
    dropped += Int64(count)
    filled -= count
    position -= count
    tokenStart = max(0, tokenStart - count)
  }

  // MARK: Positions

  func position(of index: Int) -> TextPosition {
    let (lines, last) = newlines(in: 0..<index)
    let start = last.map { dropped + Int64($0) + 1 } ?? lineStart
    return TextPosition(
      line: droppedLines + lines + 1, column: Int(dropped + Int64(index) - start) + 1, offset: dropped + Int64(index))
  }

  private func newlines(in range: Range<Int>) -> (count: Int, last: Int?) {
    var count = 0
    var last: Int?
    var start = range.lowerBound
    while start < range.upperBound,
      let found = Bytes(buffer + start, range.upperBound - start).firstIndex(of: 0x0A)
    {
      count += 1
      last = start + found
      start += found + 1
    }
    return (count, last)
  }
}
