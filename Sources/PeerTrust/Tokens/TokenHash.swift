import Cryptography
import HealthModel
import PeerProtocol

/// The SHA-256 of a bearer token's 32 bytes, which a server keeps instead of the token.
public struct TokenHash: Hashable, Sendable {
  /// The length of SHA-256, in bytes.
  public static let byteCount = 32

  /// The hash, exactly ``byteCount`` bytes.
  public let bytes: [UInt8]

  /// Hashes a token. A random 256-bit token needs no salt and no stretching.
  public init(_ token: BearerToken) {
    bytes = Array(SHA256.hash(data: token.bytes))
  }

  /// Creates a hash from its bytes, or returns nil unless there are exactly 32.
  public init?(bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// The first 8 bytes in hexadecimal: identifies the token in lists and logs, and is useless to a thief.
  public var tokenID: String { RadixCoding.hex.encode(bytes.prefix(8)) }

  /// Compares two hashes in constant time.
  public static func == (first: TokenHash, second: TokenHash) -> Bool {
    ConstantTime.equal(first.bytes, second.bytes)
  }
}

extension TokenHash: CustomStringConvertible {
  public var description: String { "TokenHash(\(tokenID))" }
}
