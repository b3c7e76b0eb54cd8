import Cryptography
import HealthModel
import PeerProtocol

/// A bearer token (RFC 6750): 32 bytes that authenticate a paired client.
///
/// Its description and its mirror do not show it. Compare tokens with `==`, which takes constant time.
public struct BearerToken: Sendable {
  /// The length of a token: 256 bits, which cannot be guessed, so token attempts need no budget.
  public static let byteCount = 32

  let bytes: [UInt8]

  /// Creates a token, or returns nil unless there are exactly 32 bytes.
  init?(bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Creates a token.
  /// - Precondition: exactly 32 bytes.
  init(exactly bytes: [UInt8]) {
    precondition(bytes.count == Self.byteCount)
    self.bytes = bytes
  }

  /// Reads the 43 characters of base64url (RFC 4648 section 5, no padding) that follow `Bearer ` in the Authorization
  /// header.
  public init?(text: some StringProtocol) {
    guard text.utf8.count == 43, let bytes = RadixCoding.base64URL.decode(text) else { return nil }
    self.init(bytes: bytes)
  }

  /// Returns a new token from the kernel's random number generator.
  public static func random() -> BearerToken {
    BearerToken(exactly: SecureRandom.bytes(byteCount))
  }

  /// The token as 43 characters of base64url: a secret.
  public var text: String { RadixCoding.base64URL.encode(bytes) }

  /// The SHA-256 that a server keeps instead of the token.
  public var hash: TokenHash { TokenHash(self) }
}

extension BearerToken: Equatable {
  public static func == (first: BearerToken, second: BearerToken) -> Bool {
    ConstantTime.equal(first.bytes, second.bytes)
  }
}

extension BearerToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "BearerToken(redacted)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
