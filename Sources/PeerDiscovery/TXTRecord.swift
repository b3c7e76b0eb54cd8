/// DNS-SD TXT records: strings of the form `key=value` (RFC 6763 section 6).
enum TXTRecord {
  /// The maximum length in bytes that fits into an Ethernet packet (RFC 6763 section 6.2), with a length byte per
  /// string.
  static let maximumBytes = 1300
  static let maximumKeys = 64
  private static let maximumStringBytes = 255

  /// Returns the entries of `strings`, which may be hostile: reads up to both maxima, skips invalid entries, keeps
  /// the first of equal keys, and drops values that are not valid UTF-8.
  static func parse(_ strings: some Sequence<[UInt8]>) -> [String: String] {
    var seen: Set<String> = []
    var entries: [String: String] = [:]
    var bytes = 0
    for string in strings {
      bytes += string.count + 1
      guard bytes <= maximumBytes, seen.count < maximumKeys else { break }
      let (key, value) = split(string)
      // A second occurrence is ignored even if the first value was invalid (RFC 6763 section 6.4).
      guard let key = normalizedKey(key), seen.insert(key).inserted else { continue }
      entries[key] = String(validating: value, as: UTF8.self)
    }
    return entries
  }

  /// Returns the strings to publish for `entries`, in their order.
  static func strings(
    for entries: [(key: String, value: String)]
  ) throws(DiscoveryError) -> [[UInt8]] {
    var strings: [[UInt8]] = []
    for (key, value) in entries {
      let string = Array(key.utf8) + [UInt8(ascii: "=")] + Array(value.utf8)
      guard normalizedKey(key.utf8) != nil, string.count <= maximumStringBytes else {
        throw .invalidTXTEntry(key: key)
      }
      strings.append(string)
    }
    let bytes = strings.reduce(0) { $0 + $1.count + 1 }
    guard bytes <= maximumBytes else { throw .txtRecordTooLong(bytes: bytes, maximum: maximumBytes) }
    return strings
  }

  private static func split(_ string: [UInt8]) -> (key: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
    let end = string.firstIndex(of: UInt8(ascii: "=")) ?? string.endIndex
    return (string[..<end], string[end...].dropFirst())
  }

  private static func normalizedKey(_ key: some Collection<UInt8>) -> String? {
    guard !key.isEmpty, key.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }) else { return nil }
    return String(decoding: key, as: UTF8.self).lowercased()
  }
}
