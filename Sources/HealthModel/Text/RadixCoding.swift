/// A text encoding of bytes in an alphabet of 16, 32 or 64 characters, without padding (RFC 4648). Each byte string
/// has only one accepted spelling, apart from letter case if the alphabet ignores it.
///
/// Used for keys, tokens and fingerprints. UUIDs and numbers, which occur by the million, have their own printers.
package struct RadixCoding: Sendable {
  /// Base 16 (RFC 4648 section 8) in lower case, for every binary field of hpeer's JSON.
  package static let hex = RadixCoding("0123456789abcdef", ignoringCase: true)
  /// Base 32 (RFC 4648 section 6) in upper case.
  package static let base32 = RadixCoding("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", ignoringCase: true)
  /// Base 64 for URLs and header fields (RFC 4648 section 5).
  package static let base64URL = RadixCoding(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", ignoringCase: false)

  private static let foreign: UInt8 = 0xFF

  private let alphabet: [UInt8]
  /// The value of each character.
  private let values: [UInt8]
  /// The number of bits per character.
  private let bits: Int

  private init(_ alphabet: String, ignoringCase: Bool) {
    self.alphabet = Array(alphabet.utf8)
    bits = self.alphabet.count.trailingZeroBitCount
    var values = [UInt8](repeating: Self.foreign, count: 256)
    for spelling in ignoringCase ? [alphabet.lowercased(), alphabet.uppercased()] : [alphabet] {
      for (value, character) in spelling.utf8.enumerated() { values[Int(character)] = UInt8(value) }
    }
    self.values = values
  }

  package func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.underestimatedCount * 8 / bits + 1)
    var (pending, pendingBits) = (0, 0)
    for byte in bytes {
      pending = pending << 8 | Int(byte)
      pendingBits += 8
      while pendingBits >= bits {
        pendingBits -= bits
        text.append(alphabet[pending >> pendingBits])
        pending &= (1 << pendingBits) - 1
      }
    }
    if pendingBits > 0 { text.append(alphabet[pending << (bits - pendingBits)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the decoded bytes, or `nil` for a foreign character, padding, an impossible length or nonzero leftover
  /// bits.
  package func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * bits / 8)
    var (pending, pendingBits) = (0, 0)
    for character in text.utf8 {
      let value = values[Int(character)]
      guard value != Self.foreign else { return nil }
      pending = pending << bits | Int(value)
      pendingBits += bits
      if pendingBits >= 8 {
        pendingBits -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> pendingBits))
        pending &= (1 << pendingBits) - 1
      }
    }
    return pendingBits < bits && pending == 0 ? bytes : nil
  }
}
