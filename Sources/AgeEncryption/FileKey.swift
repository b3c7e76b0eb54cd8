import Crypto
import Foundation

/// The file key: 16 random bytes, from which the header's HMAC key and the payload key are derived.
enum FileKey {
  private static let byteCount = 16
  /// With the tag.
  static let sealedCount = 32
  /// The key that it is sealed with is used once.
  private static let nonce = Data(count: 12)

  static func random() -> SymmetricKey { SymmetricKey(size: .bits128) }

  static func seal(_ fileKey: SymmetricKey, with key: SymmetricKey) -> [UInt8] {
    let bytes = fileKey.withUnsafeBytes { Data($0) }
    return Array(ChaChaPolyBytes.seal(bytes, key, nonce))
  }

  /// `nil` where the key is another.
  static func open(_ bytes: [UInt8], with key: SymmetricKey) -> SymmetricKey? {
    ChaChaPolyBytes.open(Data(bytes), key, nonce).flatMap { $0.count == byteCount ? SymmetricKey(data: $0) : nil }
  }

  static func headerKey(_ fileKey: SymmetricKey) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: fileKey, salt: Data(), info: Data("header".utf8), outputByteCount: 32)
  }

  static func payloadKey(_ fileKey: SymmetricKey, nonce: [UInt8]) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: fileKey, salt: Data(nonce), info: Data("payload".utf8), outputByteCount: 32)
  }
}

/// ChaCha20-Poly1305 (RFC 8439) without additional data, the tag behind what is sealed.
enum ChaChaPolyBytes {
  static let tagCount = 16

  static func seal(_ bytes: Data, _ key: SymmetricKey, _ nonce: Data) -> Data {
    do {
      let box = try ChaChaPoly.seal(bytes, using: key, nonce: ChaChaPoly.Nonce(data: nonce))
      return box.ciphertext + box.tag
    } catch {
      // It refuses keys and nonces of other lengths only.
      fatalError("ChaCha20-Poly1305: \(error)")
    }
  }

  /// `nil` where the tag is not that of these bytes.
  static func open(_ bytes: Data, _ key: SymmetricKey, _ nonce: Data) -> Data? {
    guard bytes.count >= tagCount,
      let box = try? ChaChaPoly.SealedBox(
        nonce: ChaChaPoly.Nonce(data: nonce), ciphertext: bytes.prefix(bytes.count - tagCount),
        tag: bytes.suffix(tagCount))
    else { return nil }
    return try? ChaChaPoly.open(box, using: key)
  }
}
