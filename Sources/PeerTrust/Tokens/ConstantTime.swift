import COpenSSL

enum ConstantTime {
  /// Whether two byte strings are equal, in a time that depends on their lengths only.
  static func equal(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    first.count == second.count && CRYPTO_memcmp(first, second, first.count) == 0
  }
}
