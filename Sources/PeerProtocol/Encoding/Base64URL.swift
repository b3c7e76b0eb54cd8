/// RFC 4648 section 5 base 64 for URLs and header fields, without padding.
package enum Base64URL {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    var pending = 0
    var pendingBits = 0
    for byte in bytes {
      pending = pending << 8 | Int(byte)
      pendingBits += 8
      while pendingBits >= 6 {
        pendingBits -= 6
        text.append(alphabet[pending >> pendingBits & 0x3f])
      }
      pending &= (1 << pendingBits) - 1
    }
    if pendingBits > 0 { text.append(alphabet[pending << (6 - pendingBits) & 0x3f]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Nil for a foreign character, padding, an impossible length or left-over bits that are not zero, so that every byte
  /// string has exactly one spelling.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var pending = 0
    var pendingBits = 0
    for character in text.utf8 {
      guard let value = value(character) else { return nil }
      pending = pending << 6 | value
      pendingBits += 6
      if pendingBits >= 8 {
        pendingBits -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> pendingBits))
        pending &= (1 << pendingBits) - 1
      }
    }
    return pendingBits < 6 && pending == 0 ? bytes : nil
  }

  private static func value(_ character: UInt8) -> Int? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
