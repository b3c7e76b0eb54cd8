/// The defects found in a text.
struct TextDefects: OptionSet, Sendable {
  let rawValue: UInt8
  static let invalidUTF8 = TextDefects(rawValue: 1)
  static let controlCharacter = TextDefects(rawValue: 2)
  static let unknownEntity = TextDefects(rawValue: 4)
}

/// A lenient decoder of attribute values (XML 1.0 sections 2.2 and 4.1).
///
/// Decodes the five predefined entities and numeric references. Leaves other entities unchanged, replaces invalid
/// UTF-8 by U+FFFD, and removes characters that XML forbids; each of these is reported as a defect.
enum XMLText {
  /// Returns the decoded text, ignoring defects.
  static func decode(_ bytes: Bytes) -> String {
    var defects: TextDefects = []
    return decode(bytes, defects: &defects)
  }

  static func decode(_ bytes: Bytes, defects: inout TextDefects) -> String {
    var isPlain = true
    for index in 0..<bytes.count where bytes[index] == 0x26 || bytes[index] < 0x20 {
      isPlain = false
      break
    }
    let buffer = bytes.buffer
    if isPlain { return string(buffer, defects: &defects) }
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte == 0x26 {
        index += appendReference(bytes.dropFirst(index), to: &output, defects: &defects)
        continue
      }
      if byte < 0x20, byte != 0x09, byte != 0x0A, byte != 0x0D {
        defects.insert(.controlCharacter)
      } else {
        output.append(byte)
      }
      index += 1
    }
    return output.withUnsafeBufferPointer { string($0, defects: &defects) }
  }

  private static func string(_ bytes: UnsafeBufferPointer<UInt8>, defects: inout TextDefects) -> String {
    if let text = String(utf8: bytes) { return text }
    defects.insert(.invalidUTF8)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the character that the reference at the start of `bytes` stands for. Returns the length of the reference
  /// in bytes.
  private static func appendReference(_ bytes: Bytes, to output: inout [UInt8], defects: inout TextDefects) -> Int {
    let head = Bytes(bytes.start, min(bytes.count, 12))
    if let end = head.firstIndex(of: 0x3B) {
      let name = Bytes(head.start + 1, end - 1)
      switch name.count {
      case 2 where name == "lt":
        output.append(0x3C)
        return end + 1
      case 2 where name == "gt":
        output.append(0x3E)
        return end + 1
      case 3 where name == "amp":
        output.append(0x26)
        return end + 1
      case 4 where name == "quot":
        output.append(0x22)
        return end + 1
      case 4 where name == "apos":
        output.append(0x27)
        return end + 1
      case 2... where name[0] == 0x23:
        if let value = codePoint(name.dropFirst(1)) {
          if value < 0x20, value != 0x09, value != 0x0A, value != 0x0D {
            defects.insert(.controlCharacter)
          } else if let scalar = Unicode.Scalar(value) {
            output.append(contentsOf: String(Character(scalar)).utf8)
          } else {
            // A surrogate is not a character.
            defects.insert(.invalidUTF8)
            output.append(contentsOf: "\u{FFFD}".utf8)
          }
          return end + 1
        }
      default: break
      }
    }
    defects.insert(.unknownEntity)
    output.append(0x26)
    return 1
  }

  /// Parses a number such as `183` or `xB7`. Returns `nil` if it is invalid or above U+10FFFF.
  private static func codePoint(_ digits: Bytes) -> UInt32? {
    let isHex = digits[0] == 0x78
    let text = isHex ? digits.dropFirst(1) : digits
    guard text.count > 0, text.count <= 8 else { return nil }
    var value: UInt32 = 0
    for index in 0..<text.count {
      let digit: UInt32
      switch text[index] {
      case 0x30...0x39: digit = UInt32(text[index] - 0x30)
      case 0x41...0x46 where isHex: digit = UInt32(text[index] - 0x41 + 10)
      case 0x61...0x66 where isHex: digit = UInt32(text[index] - 0x61 + 10)
      default: return nil
      }
      value = value * (isHex ? 16 : 10) + digit
      if value > 0x10FFFF { return nil }
    }
    return value
  }
}
