import Cryptography
import Foundation

/// The key schedule of RFC 9382 section 4 with SHA-256, HKDF and HMAC.
struct SPAKE2Keys: Sendable {
  /// The encryption key: the first half of SHA-256(TT) = Ke ‖ Ka.
  let ke: SymmetricKey
  let ka: SymmetricKey
  /// The confirmation key of A: the first half of HKDF(Ka, "ConfirmationKeys" ‖ AAD) = KcA ‖ KcB.
  let kcA: SymmetricKey
  let kcB: SymmetricKey
  /// The proof of A: HMAC(KcA, TT), 32 bytes.
  let cA: [UInt8]
  /// The proof of B: HMAC(KcB, TT), 32 bytes.
  let cB: [UInt8]

  init(transcript: borrowing SecretBytes, additionalData: [UInt8]) throws(P256Error) {
    (ke, ka) = Self.hash(transcript).withBytes(Self.halves)
    let confirmation = HKDF.deriveKey(
      inputKeyMaterial: ka, salt: [], info: Array("ConfirmationKeys".utf8) + additionalData, outputByteCount: 32)
    (kcA, kcB) = confirmation.withUnsafeBytes(Self.halves)
    (cA, cB) = transcript.withBytes { [kcA, kcB] transcript in
      (
        HMAC.authenticationCode(for: transcript, using: kcA),
        HMAC.authenticationCode(for: transcript, using: kcB)
      )
    }
  }

  /// Returns the SHA-256 of the transcript in memory that is wiped; no copy is left elsewhere.
  private static func hash(_ transcript: borrowing SecretBytes) -> SecretBytes {
    var hasher = SHA256()
    transcript.withBytes { hasher.update(bufferPointer: $0) }
    var hash = SecretBytes(count: SHA256.byteCount)
    hash.withMutableBytes { hasher.finalize(into: $0) }
    return hash
  }

  /// Returns two keys of 16 bytes, each of which wipes its memory when it is released.
  private static func halves(_ bytes: UnsafeRawBufferPointer) -> (SymmetricKey, SymmetricKey) {
    (
      SymmetricKey(data: UnsafeRawBufferPointer(rebasing: bytes[..<16])),
      SymmetricKey(data: UnsafeRawBufferPointer(rebasing: bytes[16..<32]))
    )
  }

  /// Returns TT: each part preceded by its length as eight bytes, little-endian. An absent identity is empty.
  static func transcript(
    identityA: [UInt8], identityB: [UInt8], shareA: [UInt8], shareB: [UInt8], element: borrowing SecretBytes, w: Scalar
  ) -> SecretBytes {
    let w = w.bytes()
    let open = [identityA, identityB, shareA, shareB]
    var transcript = SecretBytes(count: open.reduce(6 * 8 + element.count + w.count) { $0 + $1.count })
    var end = 0
    for part in open { part.withUnsafeBytes { append($0, to: &transcript, at: &end) } }
    element.withBytes { append($0, to: &transcript, at: &end) }
    w.withBytes { append($0, to: &transcript, at: &end) }
    return transcript
  }

  private static func append(_ part: UnsafeRawBufferPointer, to transcript: inout SecretBytes, at end: inout Int) {
    transcript.withMutableBytes { transcript in
      transcript.storeBytes(of: UInt64(part.count).littleEndian, toByteOffset: end, as: UInt64.self)
      UnsafeMutableRawBufferPointer(rebasing: transcript[(end + 8)...]).copyMemory(from: part)
    }
    end += 8 + part.count
  }
}
