import Cryptography
import Foundation
import HealthModel

/// A key that encrypts positions into change tokens and decrypts them. Without the key, tokens can't be read, forged
/// or compared.
///
/// A plain number would tell a reader with a narrow scope how many changes it may not see. A token is the base64url
/// text without padding (RFC 4648 section 5) of 53 bytes: version `2`, a random nonce of 12 bytes, then the 24 bytes
/// of a ``ChangeToken`` under AES-256-GCM (NIST SP 800-38D) with a 16-byte tag. The version is the associated data.
/// Version `1`, 33 bytes, was not encrypted; it is recognized as a token but refused.
public struct ChangeTokenSeal: Sendable {
  private static let version: UInt8 = 2
  private static let byteCounts: [UInt8: Int] = [1: 33, version: 1 + 12 + ChangeToken.byteCount + 16]
  private let key: SymmetricKey

  /// - Parameter key: 32 bytes that belong to one store.
  public init(key: Data) {
    precondition(key.count == 32, "AES-256 has keys of 32 bytes")
    self.key = SymmetricKey(data: key)
  }

  /// Seals a position. No two results are equal because the nonce is random.
  public func text(of token: ChangeToken) -> String {
    let nonce = SecureRandom.bytes(AuthenticatedCipher.nonceByteCount)
    let sealed = AuthenticatedCipher.aes256GCM.seal(
      Array(token.bytes), using: key, nonce: nonce, authenticating: [Self.version])
    return RadixCoding.base64URL.encode(Data([Self.version] + nonce + sealed))
  }

  /// Returns the position sealed in a text.
  ///
  /// - Throws: ``ChangeTokenError``; the server answers `410 Gone` to either case, and the client starts over.
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

/// A reason why a text is not a change token of this server's store.
public enum ChangeTokenError: Error, Hashable, Sendable {
  /// The text is not a change token.
  case malformed
  /// A token of another store or version, or one that was altered.
  case foreign
}
