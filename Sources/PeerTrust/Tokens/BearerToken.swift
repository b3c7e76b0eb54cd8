import Foundation
import PeerProtocol

/// A bearer token (RFC 6750): 32 bytes that let a paired client in.
///
/// Its description and its mirror do not show it. Compare tokens with `==`, which takes the same time for any two.
public struct BearerToken: Sendable {
  public static let byteCount = 32

  let bytes: [UInt8]

  /// Nil unless there are exactly 32 bytes.
  init?(bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// With bytes whose count is known to be 32.
  init(exactly bytes: [UInt8]) {
    precondition(bytes.count == Self.byteCount)
    self.bytes = bytes
  }

  /// Reads the 43 characters of base64url (RFC 4648 section 5, no padding) that follow `Bearer ` in the Authorization
  /// header.
  public init?(text: some StringProtocol) {
    guard text.utf8.count == 43, text.utf8.allSatisfy(Self.isBase64URL) else { return nil }
    let standard = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
    guard let data = Data(base64Encoded: String(standard) + "=") else { return nil }
    self.init(bytes: data)
    // The last character has two bits to spare; a token has one spelling.
    guard self.text == text else { return nil }
  }

  /// A new token from the kernel's generator.
  public static func random() -> BearerToken {
    BearerToken(exactly: SecureRandom.bytes(byteCount))
  }

  /// 43 characters of base64url: a secret.
  public var text: String {
    String(
      Data(bytes).base64EncodedString().dropLast().map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
  }

  /// What a server keeps.
  public var hash: TokenHash { TokenHash(self) }

  private static func isBase64URL(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
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
