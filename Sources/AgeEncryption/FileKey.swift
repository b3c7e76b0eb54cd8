import Cryptography

/// The file key: 16 random bytes, from which the header's HMAC key and the payload key are derived.
enum FileKey {
  private static let byteCount = 16
  /// The length of a sealed file key, including the tag.
  static let sealedCount = byteCount + AuthenticatedCipher.tagByteCount
  /// The nonce is constant because each wrapping key is used once.
  private static let nonce = [UInt8](repeating: 0, count: AuthenticatedCipher.nonceByteCount)

  static func random() -> SymmetricKey { SymmetricKey(size: byteCount) }

  static func seal(_ fileKey: SymmetricKey, with key: SymmetricKey) -> [UInt8] {
    AuthenticatedCipher.chaCha20Poly1305.seal(fileKey.withUnsafeBytes { Array($0) }, using: key, nonce: nonce)
  }

  /// Returns the file key, or `nil` if it was sealed with another key.
  static func open(_ bytes: [UInt8], with key: SymmetricKey) -> SymmetricKey? {
    AuthenticatedCipher.chaCha20Poly1305.open(bytes, using: key, nonce: nonce)
      .flatMap { $0.count == byteCount ? SymmetricKey(data: $0) : nil }
  }

  static func headerKey(_ fileKey: SymmetricKey) -> SymmetricKey {
    HKDF.deriveKey(
      inputKeyMaterial: fileKey, salt: [], info: Array("header".utf8), outputByteCount: 32)
  }

  static func payloadKey(_ fileKey: SymmetricKey, nonce: [UInt8]) -> SymmetricKey {
    HKDF.deriveKey(
      inputKeyMaterial: fileKey, salt: nonce, info: Array("payload".utf8), outputByteCount: 32)
  }
}
