import Foundation
import HealthModel

/// A pull parser for JSON texts (RFC 8259) of any size. It enters objects and arrays and returns a value at a time.
///
/// It needs memory for the largest requested value plus a chunk. A leading byte order mark is skipped.
struct JSONScanner: ~Copyable {
  /// The maximum nesting depth: more than any supported file has, and less than the 512 at which JSON decoders stop.
  static let maximumDepth = 200
  /// The maximum length of a member name in bytes.
  private static let maximumKey = 4096

  private let source: any ByteSource
  private let path: String
  private let chunkSize: Int
  private var buffer: [UInt8] = []
  private var next = 0
  private var isAtEnd = false
  /// The number of bytes of the text before `buffer[0]`.
  private var dropped: Int64 = 0
  private var droppedLines = 0
  private var lineStart: Int64 = 0
  /// Whether nothing has been read yet, for each open object or array.
  private var isFirst: [Bool] = []

  init(source: any ByteSource, path: String, chunkSize: Int = 256 << 10) {
    self.source = source
    self.path = path
    self.chunkSize = max(1, chunkSize)
  }

  deinit { source.close() }

  /// The number of bytes read from the source.
  var bytesRead: Int64 { dropped + Int64(buffer.count) }

  /// Returns the first byte of the next value, or `nil` at the end of the text.
  mutating func peek() throws -> UInt8? {
    while true {
      while next < buffer.count {
        let byte = buffer[next]
        if byte != 0x20, byte != 0x0A, byte != 0x0D, byte != 0x09 {
          if byte == 0xEF, dropped == 0, next == 0, try skipMark() { continue }
          return byte
        }
        next += 1
      }
      if try !refill() { return nil }
    }
  }

  private mutating func skipMark() throws -> Bool {
    while buffer.count < 3 { if try !refill() { return false } }
    guard buffer[1] == 0xBB, buffer[2] == 0xBF else { return false }
    next = 3
    return true
  }

  // MARK: Structure

  mutating func beginObject() throws { try begin(UInt8(ascii: "{"), "an object") }
  mutating func beginArray() throws { try begin(UInt8(ascii: "["), "an array") }

  private mutating func begin(_ byte: UInt8, _ what: String) throws {
    guard try some() == byte else { throw malformed("\(what) is expected") }
    guard isFirst.count < Self.maximumDepth else { throw malformed("too deep a nesting") }
    next += 1
    isFirst.append(true)
  }

  /// Returns the name of the next member, or `nil` after the last one. Read the member's value next.
  mutating func nextKey() throws -> String? {
    guard try advance(to: UInt8(ascii: "}")) else { return nil }
    guard try some() == UInt8(ascii: "\"") else { throw malformed("a member name is expected") }
    let (bytes, offset) = try value(limit: Self.maximumKey)
    guard case .string(let key) = try parse(bytes, at: offset) else { throw malformed("a member name is expected") }
    guard try some() == UInt8(ascii: ":") else { throw malformed("a colon is expected") }
    next += 1
    return key
  }

  /// Returns whether another element follows. If so, read it next.
  mutating func nextElement() throws -> Bool { try advance(to: UInt8(ascii: "]")) }

  /// Moves to the next member or element. At the end of the open object or array, leaves it and returns false.
  private mutating func advance(to end: UInt8) throws -> Bool {
    let byte = try some()
    let first = isFirst[isFirst.count - 1]
    isFirst[isFirst.count - 1] = false
    if byte == end {
      next += 1
      isFirst.removeLast()
      return false
    }
    if first { return true }
    guard byte == UInt8(ascii: ",") else { throw malformed("a comma is expected") }
    next += 1
    return true
  }

  /// Throws an error unless only white space follows.
  mutating func end() throws {
    if try peek() != nil { throw malformed("something follows the end") }
  }

  // MARK: Values

  /// Returns the bytes of the next value and their offset. Only the balance of brackets is checked.
  mutating func value(limit: Int) throws -> (bytes: ArraySlice<UInt8>, offset: Int64) {
    _ = try some()
    let length = try measure(limit: limit)
    defer { next += length }
    return (buffer[next..<next + length], dropped + Int64(next))
  }

  /// Parses the next value.
  mutating func tree(limit: Int) throws -> (value: JSONValue, offset: Int64) {
    let (bytes, offset) = try value(limit: limit)
    return (try parse(bytes, at: offset), offset)
  }

  /// Skips the next value, whatever its size.
  mutating func skipValue() throws {
    _ = try some()
    next += try measure(limit: nil)
  }

  /// Parses the value that was read last.
  ///
  /// - Parameter offset: the offset of `bytes`.
  func parse(_ bytes: ArraySlice<UInt8>, at offset: Int64) throws -> JSONValue {
    do throws(JSONParser.Failure) {
      return try JSONParser.parse(bytes)
    } catch {
      throw malformed(error.what, at: offset + Int64(error.offset))
    }
  }

  /// Returns the length of the value at `next`. Without a limit, bytes are dropped along the way, and the result is
  /// the length of the rest.
  private mutating func measure(limit: Int?) throws -> Int {
    var (index, depth) = (next, 0)
    var (isString, isEscaped) = (false, false)
    // The position at which a skipped value began, in case its beginning has been dropped.
    var start: TextPosition?
    while true {
      let found: Int? = buffer.withUnsafeBufferPointer { bytes in
        while index < bytes.count {
          if isString, !isEscaped {
            // Fast path, because most bytes are in strings.
            while index < bytes.count, bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "\\") {
              index += 1
            }
            if index == bytes.count { return nil }
          }
          let byte = bytes[index]
          index += 1
          if isString {
            if isEscaped {
              isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
              isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
              isString = false
              if depth == 0 { return index }
            }
            continue
          }
          switch byte {
          case UInt8(ascii: "\""): isString = true
          case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
          case UInt8(ascii: "}"), UInt8(ascii: "]"):
            // The bracket belongs to the object or array around a number, `true`, `false` or `null`.
            if depth == 0 { return index - 1 }
            depth -= 1
            if depth == 0 { return index }
          case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x0A, 0x0D, 0x09: if depth == 0 { return index - 1 }
          default: break
          }
          if depth > Self.maximumDepth { return -1 }
        }
        return nil
      }
      if let found {
        guard found >= 0 else {
          throw SampleFileError.malformed(path: path, detail: "too deep a nesting", at: start ?? position)
        }
        guard found > next || start != nil else { throw malformed("a value is expected") }
        if let limit, found - next > limit { throw SampleFileError.tooLarge(path: path, at: position) }
        return found - next
      }
      if let limit, buffer.count - next > limit { throw SampleFileError.tooLarge(path: path, at: position) }
      if limit == nil {
        if start == nil, index > next { start = position }
        next = index
      }
      let before = next
      let isMore = try refill()
      // Skipped bytes may have been dropped, even at the end of the source.
      index -= before - next
      if !isMore {
        guard !isString, depth == 0, isFirst.isEmpty, index > next || start != nil else {
          throw SampleFileError.endsEarly(path: path, at: endPosition)
        }
        return index - next
      }
    }
  }

  private mutating func some() throws -> UInt8 {
    guard let byte = try peek() else { throw SampleFileError.endsEarly(path: path, at: endPosition) }
    return byte
  }

  /// Drops the consumed bytes and reads more. Returns false at the end of the source.
  private mutating func refill() throws -> Bool {
    if isAtEnd { return false }
    if next > 0 {
      let start = position(of: next)
      droppedLines = start.line - 1
      lineStart = start.offset - Int64(start.column - 1)
      dropped += Int64(next)
      buffer.removeSubrange(..<next)
      next = 0
    }
    let filled = buffer.count
    // A long value is read in ever larger pieces.
    let size = max(chunkSize, filled)
    buffer += try [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
      // The size is at least one, so there is a base address.
      if let start = bytes.baseAddress { count = try source.read(into: start, count: size) }
    }
    let count = buffer.count - filled
    isAtEnd = count == 0
    return count > 0
  }

  // MARK: Positions

  /// Returns the position of an offset between the value that was read last and the next byte.
  func position(at offset: Int64) -> TextPosition { position(of: Int(offset - dropped)) }

  /// The position of the next byte.
  var position: TextPosition { position(of: next) }
  private var endPosition: TextPosition { position(of: buffer.count) }

  func malformed(_ detail: String, at offset: Int64? = nil) -> SampleFileError {
    .malformed(path: path, detail: detail, at: offset.map { position(at: $0) } ?? position)
  }

  private func position(of index: Int) -> TextPosition {
    var (line, start) = (droppedLines + 1, lineStart)
    // Counts lines from the start of the buffer, so this takes time.
    buffer.withUnsafeBufferPointer { bytes in
      for passed in 0..<max(0, min(index, bytes.count)) where bytes[passed] == 0x0A {
        line += 1
        start = dropped + Int64(passed) + 1
      }
    }
    let offset = dropped + Int64(index)
    return TextPosition(line: line, column: Int(offset - start) + 1, offset: offset)
  }
}
