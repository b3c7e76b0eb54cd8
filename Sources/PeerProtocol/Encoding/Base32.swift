/// RFC 4648 section 6 base 32 in upper case, without padding.
package enum Base32 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    var pending = 0
    var pendingBits = 0
    for byte in bytes {
      pending = pending << 8 | Int(byte)
      pendingBits += 8
      while pendingBits >= 5 {
        pendingBits -= 5
        text.append(alphabet[pending >> pendingBits & 0x1f])
      }
      pending &= (1 << pendingBits) - 1
    }
    if pendingBits > 0 { text.append(alphabet[pending << (5 - pendingBits) & 0x1f]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads upper and lower case. Nil for a foreign character, an impossible length or left-over bits that are not zero,
  /// so that every byte string has exactly one spelling.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var pending = 0
    var pendingBits = 0
    for character in text.utf8 {
      guard let value = value(character) else { return nil }
      pending = pending << 5 | value
      pendingBits += 5
      if pendingBits >= 8 {
        pendingBits -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> pendingBits))
        pending &= (1 << pendingBits) - 1
      }
    }
    return pendingBits < 5 && pending == 0 ? bytes : nil
  }

  private static func value(_ character: UInt8) -> Int? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(character - UInt8(ascii: "a"))
    case UInt8(ascii: "2")...UInt8(ascii: "7"): Int(character - UInt8(ascii: "2")) + 26
    default: nil
    }
  }
}
