import Foundation

/// The encoding of a machine's current name in a header of a paired machine's request and answer. Pairing only tells
/// the name at that time. A name proves nothing and is not a key.
public enum PeerName {
  /// The name of the header field, in requests and answers alike.
  public static let header = "Hpeer-Name"

  /// Returns the percent-encoded UTF-8 of the name, trimmed as for pairing.
  public static func encoded(_ name: String) -> String {
    PairingProtocol.trimmedName(name).addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  /// Decodes a name, or returns `nil` for an invalid one, in which case the known name stays.
  public static func decoded(_ text: String) -> String? {
    guard text.utf8.count <= 3 * PairingProtocol.maximumNameByteCount, let name = text.removingPercentEncoding,
      !name.isEmpty, PairingProtocol.trimmedName(name) == name
    else { return nil }
    return name
  }

  /// The unreserved characters of RFC 3986 section 2.3.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
