/// The Bech32 encoding (BIP 173), without its limit of 90 characters, as age uses it for keys.
enum Bech32 {
  private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
  private static let separator = UInt8(ascii: "1")
  private static let checksumLength = 6

  /// Returns the encoding in lower case.
  ///
  /// - Parameter prefix: the prefix in lower case.
  static func encode(_ prefix: String, _ bytes: [UInt8]) -> String {
    let values = regroup(bytes, from: 8, to: 5, pads: true) ?? []
    let prefix = Array(prefix.utf8)
    let remainder = polymod(expanded(prefix) + values + [UInt8](repeating: 0, count: checksumLength)) ^ 1
    let checksum = (0..<checksumLength).map { UInt8(remainder >> (5 * UInt32(checksumLength - 1 - $0)) & 31) }
    let text = prefix + [separator] + (values + checksum).map { alphabet[Int($0)] }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes a text.
  ///
  /// - Returns: the prefix as written, and the bytes; `nil` for mixed case, a wrong checksum, invalid characters or
  ///   leftover bits.
  static func decode(_ text: String) -> (prefix: String, bytes: [UInt8])? {
    let characters = Array(text.utf8)
    guard characters.count <= 1000, characters.allSatisfy({ (33...126).contains($0) }),
      text == text.lowercased() || text == text.uppercased(),
      let end = characters.lastIndex(of: separator), end > 0, characters.count - end - 1 >= checksumLength
    else { return nil }
    let lower = Array(text.lowercased().utf8)
    let values = lower[(end + 1)...].map { alphabet.firstIndex(of: $0) }
    guard !values.contains(nil) else { return nil }
    let numbers = values.compactMap { $0.map(UInt8.init) }
    guard polymod(expanded(Array(lower[..<end])) + numbers) == 1,
      let bytes = regroup(numbers.dropLast(checksumLength), from: 5, to: 8, pads: false)
    else { return nil }
    return (String(decoding: characters[..<end], as: UTF8.self), bytes)
  }

  private static func expanded(_ prefix: [UInt8]) -> [UInt8] {
    prefix.map { $0 >> 5 } + [0] + prefix.map { $0 & 31 }
  }

  private static func polymod(_ values: [UInt8]) -> UInt32 {
    let generator: [UInt32] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]
    var sum: UInt32 = 1
    for value in values {
      let top = sum >> 25
      sum = (sum & 0x1ff_ffff) << 5 ^ UInt32(value)
      for (bit, word) in generator.enumerated() where top >> UInt32(bit) & 1 == 1 { sum ^= word }
    }
    return sum
  }

  /// Regroups bits; `nil` if the leftover bits are a whole group or not zero.
  private static func regroup(_ values: some Collection<UInt8>, from: UInt32, to: UInt32, pads: Bool) -> [UInt8]? {
    var (pending, bits): (UInt32, UInt32) = (0, 0)
    var result: [UInt8] = []
    for value in values {
      pending = pending << from | UInt32(value)
      bits += from
      while bits >= to {
        bits -= to
        result.append(UInt8(pending >> bits & (1 << to - 1)))
      }
      pending &= 1 << bits - 1
    }
    if pads {
      if bits > 0 { result.append(UInt8(pending << (to - bits) & (1 << to - 1))) }
    } else if bits >= from || pending != 0 {
      return nil
    }
    return result
  }
}
