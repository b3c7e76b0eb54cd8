/// The rules for the name of a service instance: one DNS label of UTF-8 (RFC 6763 section 4.1.1).
enum InstanceName {
  /// A DNS label has at most 63 bytes.
  static let maximumBytes = 63
  /// A domain name has at most 255 bytes; Avahi writes special characters as `\ddd`, up to four bytes for one.
  static let maximumHostNameBytes = 1020

  /// A name as it came from the network, made valid UTF-8: invalid bytes become U+FFFD, and what is beyond
  /// `maximumBytes` is cut off.
  static func repaired(_ bytes: some Collection<UInt8>, maximumBytes: Int = maximumBytes) -> String {
    String(decoding: bytes.prefix(maximumBytes), as: UTF8.self)
  }

  /// A name that can be published: without control characters, cut between characters, `fallback` if nothing is left.
  static func publishable(_ name: String, fallback: String = "hpeer") -> String {
    var label = ""
    var length = 0
    for character in name where !character.unicodeScalars.contains(where: isControl) {
      length += character.utf8.count
      guard length <= maximumBytes else { break }
      label.append(character)
    }
    return label.allSatisfy(\.isWhitespace) ? fallback : label
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control
  }
}
