import Cryptography
import Foundation
import HealthModel

/// Turns positions into change tokens that nobody else can read, forge or compare, and back.
///
/// A number in the clear would tell a reader with a narrow scope how many changes there are beside those that it may
/// see. Text: base64url without padding (RFC 4648 section 5) of 53 bytes: version `2`, a random nonce of 12 bytes, then
/// the 24 bytes of a ``ChangeToken`` under AES-256-GCM (NIST SP 800-38D) with a tag of 16, the version being associated
/// data. Version `1`, 33 bytes, was in the clear; it is known as a token and not taken any more.
public struct ChangeTokenSeal: Sendable {
  private static let version: UInt8 = 2
  private static let byteCounts: [UInt8: Int] = [1: 33, version: 1 + 12 + ChangeToken.byteCount + 16]
  private let key: SymmetricKey

  /// - Parameter key: 32 bytes that belong to one store.
  public init(key: Data) {
    precondition(key.count == 32, "AES-256 has keys of 32 bytes")
    self.key = SymmetricKey(data: key)
  }

  /// Seals a position. The nonce is random, so that no two texts are equal.
  public func text(of token: ChangeToken) -> String {
    let nonce = SecureRandom.bytes(AuthenticatedCipher.nonceByteCount)
    let sealed = AuthenticatedCipher.aes256GCM.seal(
      Array(token.bytes), using: key, nonce: nonce, authenticating: [Self.version])
    return RadixCoding.base64URL.encode(Data([Self.version] + nonce + sealed))
  }

  /// The position that a text was made of with this key.
  ///
  /// - Throws: ``ChangeTokenError``; a server answers both with `410 Gone`, and the client starts over.
  public func token(in text: String) throws(ChangeTokenError) -> ChangeToken {
    guard text.utf8.count <= 100, let bytes = RadixCoding.base64URL.decode(text), let version = bytes.first,
      bytes.count == Self.byteCounts[version]
    else { throw .malformed }
    let nonceEnd = 1 + AuthenticatedCipher.nonceByteCount
    guard version == Self.version,
      let opened = AuthenticatedCipher.aes256GCM.open(
        bytes.dropFirst(nonceEnd), using: key, nonce: Array(bytes.dropFirst().prefix(nonceEnd - 1)),
        authenticating: [version]),
      let token = ChangeToken(bytes: opened)
    else { throw .foreign }
    return token
  }
}

/// Why a text is not a change token of this server's store.
public enum ChangeTokenError: Error, Hashable, Sendable {
  /// Not a change token at all.
  case malformed
  /// A token of another store or version, or one that was altered.
  case foreign
}
