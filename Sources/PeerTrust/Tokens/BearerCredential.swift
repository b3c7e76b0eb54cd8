import Cryptography

/// The credential that a client sends to a paired server: the text after `Bearer `.
///
/// Servers other than hpeer issue tokens in other formats, so this is any `b64token` of RFC 6750 section 2.1 up to
/// 512 characters.
public struct BearerCredential: Sendable {
  /// The text after `Bearer ` in the Authorization header: a secret.
  public let text: String

  /// Creates the credential for an hpeer server.
  public init(_ token: BearerToken) { text = token.text }

  /// Creates a credential from a text, or returns nil unless the text is valid in an Authorization header.
  public init?(text: String) {
    let isToken = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "-._~+/=".utf8.contains(byte)
      }
    }
    guard (1...512).contains(text.utf8.count), isToken else { return nil }
    self.text = text
  }
}

extension BearerCredential: Equatable {
  public static func == (first: BearerCredential, second: BearerCredential) -> Bool {
    ConstantTime.equal(Array(first.text.utf8), Array(second.text.utf8))
  }
}

extension BearerCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "BearerCredential(redacted)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
