import Foundation

/// A range of bytes in a buffer that another object owns. Valid until the buffer changes.
struct Bytes {
  var start: UnsafePointer<UInt8>
  var count: Int

  init(_ start: UnsafePointer<UInt8>, _ count: Int) {
    self.start = start
    self.count = count
  }

  subscript(index: Int) -> UInt8 { start[index] }

  func dropFirst(_ n: Int) -> Bytes { Bytes(start + n, count - n) }

  static func == (bytes: Bytes, text: StaticString) -> Bool {
    bytes.count == text.utf8CodeUnitCount && memcmp(bytes.start, text.utf8Start, bytes.count) == 0
  }

  func hasPrefix(_ text: StaticString) -> Bool {
    count >= text.utf8CodeUnitCount && memcmp(start, text.utf8Start, text.utf8CodeUnitCount) == 0
  }

  func firstIndex(of byte: UInt8) -> Int? {
    guard let found = memchr(start, Int32(byte), count) else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(start)
  }

  var buffer: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

  /// The bytes as text. Invalid UTF-8 becomes U+FFFD.
  var text: String { String(decoding: buffer, as: UTF8.self) }

  /// The bytes without white space at both ends.
  var trimmed: Bytes {
    var result = self
    while result.count > 0, result[0] <= 0x20 { result = result.dropFirst(1) }
    while result.count > 0, result[result.count - 1] <= 0x20 { result.count -= 1 }
    return result
  }

  /// A hash that is the same in every run, for tables and for ``KeyFilter``.
  var stableHash: UInt64 {
    let raw = UnsafeRawPointer(start)
    var hash = 0x9E37_79B9_7F4A_7C15 ^ UInt64(count)
    var index = 0
    while index + 8 <= count {
      hash = hash.folded(with: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      index += 8
    }
    if index < count {
      var tail: UInt64 = 0
      while index < count {
        tail = tail << 8 | UInt64(start[index])
        index += 1
      }
      hash = hash.folded(with: tail)
    }
    return hash.folded(with: 0xD6E8_FEB8_6659_FD93)
  }
}

extension UInt64 {
  /// Returns the result of one step of a multiply-and-fold hash.
  func folded(with other: UInt64) -> UInt64 {
    let product = (self ^ other).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
    return product.high ^ product.low ^ (other &* 0x9E37_79B9_7F4A_7C15)
  }
}

extension String {
  /// Creates a text; fails for invalid UTF-8. Fast for ASCII, which most texts are.
  init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
    if bytes.reduce(0, |) < 0x80 {
      self.init(decoding: bytes, as: UTF8.self)
    } else {
      self.init(validating: bytes, as: UTF8.self)
    }
  }

  /// Calls `body` with the UTF-8 of this text.
  func withBytes<R>(_ body: (Bytes) -> R) -> R {
    var copy = self
    // An empty text may have no base address; any valid pointer does for zero bytes.
    return copy.withUTF8 { body(Bytes($0.baseAddress ?? StaticString("").utf8Start, $0.count)) }
  }
}

/// A position in a text.
public struct TextPosition: Hashable, Sendable, Codable {
  /// The number of the line, from 1. Lines end with a line feed.
  public var line: Int
  /// The number of the column, from 1, in bytes.
  public var column: Int
  /// The offset from the start of the text, in bytes, from 0.
  public var offset: Int64

  /// Creates a position from three values that must belong together.
  public init(line: Int, column: Int, offset: Int64) {
    self.line = line
    self.column = column
    self.offset = offset
  }
}
