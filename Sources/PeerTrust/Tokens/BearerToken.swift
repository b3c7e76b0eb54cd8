import Cryptography
import HealthModel
import PeerProtocol

/// A bearer token (RFC 6750): 32 bytes that let a paired client in.
///
/// Its description and its mirror do not show it. Compare tokens with `==`, which takes the same time for any two.
public struct BearerToken: Sendable {
  /// 256 bits: not to be guessed, so attempts with tokens need no budget.
  public static let byteCount = 32

  let bytes: [UInt8]

  /// Nil unless there are exactly 32 bytes.
  init?(bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

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

  /// A new token from the kernel's generator.
  public static func random() -> BearerToken {
    BearerToken(exactly: SecureRandom.bytes(byteCount))
  }

  /// 43 characters of base64url: a secret.
  public var text: String { RadixCoding.base64URL.encode(bytes) }

  /// The SHA-256 that a server keeps in place of the token.
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
