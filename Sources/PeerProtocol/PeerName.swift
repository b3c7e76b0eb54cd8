import Foundation

/// What a machine is called by now, in a header of a paired machine's request and of its answer: pairing tells only what
/// it was called then. A name proves nothing and is no key.
public enum PeerName {
  /// The name of the header field, in requests and answers alike.
  public static let header = "Hpeer-Name"

  /// Percent-encoded UTF-8 of the name as pairing would send it.
  public static func encoded(_ name: String) -> String {
    PairingProtocol.trimmedName(name).addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  /// `nil` for what is no such name: the name that is known already stays.
  public static func decoded(_ text: String) -> String? {
    guard text.utf8.count <= 3 * PairingProtocol.maximumNameByteCount, let name = text.removingPercentEncoding,
      !name.isEmpty, PairingProtocol.trimmedName(name) == name
    else { return nil }
    return name
  }

  /// RFC 3986 section 2.3.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
