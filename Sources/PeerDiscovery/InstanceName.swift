/// The rules for the name of a service instance: one DNS label of UTF-8 (RFC 6763 section 4.1.1).
enum InstanceName {
  /// The maximum length of a DNS label, in bytes.
  static let maximumBytes = 63
  /// The maximum length of a domain name, in bytes: 255, each of which Avahi may write as `\ddd`, four bytes.
  static let maximumHostNameBytes = 1020

  /// Returns a name from the network as valid UTF-8: invalid bytes become U+FFFD, and bytes beyond `maximumBytes` are
  /// cut off.
  static func repaired(_ bytes: some Collection<UInt8>, maximumBytes: Int = maximumBytes) -> String {
    String(decoding: bytes.prefix(maximumBytes), as: UTF8.self)
  }

  /// Returns a name that can be published: without control characters, cut between characters; `fallback` if it would
  /// be blank.
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
