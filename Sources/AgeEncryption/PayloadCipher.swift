import Cryptography

/// The pieces of a payload (STREAM): 64 KiB each but the last, sealed under a number that counts on, and says which one is
/// the last.
struct PayloadCipher {
  static let pieceCount = 64 << 10
  static let sealedCount = pieceCount + AuthenticatedCipher.tagByteCount
  static let nonceCount = 16

  private let key: SymmetricKey
  /// Of the next piece.
  private(set) var number: UInt64 = 0

  init(_ fileKey: SymmetricKey, nonce: [UInt8]) { key = FileKey.payloadKey(fileKey, nonce: nonce) }

  mutating func seal(_ piece: some Collection<UInt8>, isLast: Bool) -> [UInt8] {
    defer { number += 1 }
    return AuthenticatedCipher.chaCha20Poly1305.seal(Array(piece), using: key, nonce: nonce(isLast: isLast))
  }

  /// `nil` where it is not as it was sealed.
  mutating func open(_ piece: some Collection<UInt8>, isLast: Bool) -> [UInt8]? {
    defer { number += 1 }
    return AuthenticatedCipher.chaCha20Poly1305.open(piece, using: key, nonce: nonce(isLast: isLast))
  }

  /// 11 bytes of the number, big-endian, and one that says whether it is the last. No file reaches 2^64 pieces.
  private func nonce(isLast: Bool) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { [0, 0, 0] + Array($0) + [isLast ? 1 : 0] }
  }
}
