import Cryptography

/// The cipher for the pieces of a payload (STREAM): 64 KiB each except the last. The nonce contains a counter and
/// marks the last piece.
struct PayloadCipher {
  static let pieceCount = 64 << 10
  static let sealedCount = pieceCount + AuthenticatedCipher.tagByteCount
  static let nonceCount = 16

  private let key: SymmetricKey
  /// The number of the next piece.
  private(set) var number: UInt64 = 0

  init(_ fileKey: SymmetricKey, nonce: [UInt8]) { key = FileKey.payloadKey(fileKey, nonce: nonce) }

  mutating func seal(_ piece: some Collection<UInt8>, isLast: Bool) -> [UInt8] {
    defer { number += 1 }
    return AuthenticatedCipher.chaCha20Poly1305.seal(Array(piece), using: key, nonce: nonce(isLast: isLast))
  }

  /// Returns the decrypted piece; `nil` if it was changed.
  mutating func open(_ piece: some Collection<UInt8>, isLast: Bool) -> [UInt8]? {
    defer { number += 1 }
    return AuthenticatedCipher.chaCha20Poly1305.open(piece, using: key, nonce: nonce(isLast: isLast))
  }

  /// Returns the nonce: the number in 11 bytes, big-endian, and a byte that marks the last piece. Files never have
  /// 2^64 pieces.
  private func nonce(isLast: Bool) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { [0, 0, 0] + Array($0) + [isLast ? 1 : 0] }
  }
}
