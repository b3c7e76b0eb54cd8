import Cryptography
import HealthModel
import PeerProtocol

/// The SHA-256 of a bearer token's 32 bytes: all that a server keeps of it.
public struct TokenHash: Hashable, Sendable {
  /// The length of SHA-256.
  public static let byteCount = 32

  /// Exactly ``byteCount``.
  public let bytes: [UInt8]

  /// Without salt or stretching, which a random 256-bit token does not need.
  public init(_ token: BearerToken) {
    bytes = Array(SHA256.hash(data: token.bytes))
  }

  /// Nil unless there are exactly 32 bytes.
  public init?(bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// The first 8 bytes in hexadecimal: names the token in lists and logs without being of use to a thief.
  public var tokenID: String { RadixCoding.hex.encode(bytes.prefix(8)) }

  /// In a time that does not depend on the bytes.
  public static func == (first: TokenHash, second: TokenHash) -> Bool {
    ConstantTime.equal(first.bytes, second.bytes)
  }
}

extension TokenHash: CustomStringConvertible {
  public var description: String { "TokenHash(\(tokenID))" }
}
