import Crypto

/// The key schedule of RFC 9382 section 4 with SHA-256, HKDF and HMAC: everything that follows from the transcript.
struct SPAKE2Keys: Sendable {
  /// SHA-256(TT) = Ke ‖ Ka.
  let ke: SymmetricKey
  let ka: SymmetricKey
  /// HKDF(Ka, "ConfirmationKeys" ‖ AAD) = KcA ‖ KcB.
  let kcA: SymmetricKey
  let kcB: SymmetricKey
  /// HMAC(KcA, TT), the proof of A; 32 bytes.
  let cA: [UInt8]
  /// HMAC(KcB, TT), the proof of B; 32 bytes.
  let cB: [UInt8]

  init(transcript: [UInt8], additionalData: [UInt8]) {
    let hash = Array(SHA256.hash(data: transcript))
    ke = SymmetricKey(data: hash[..<16])
    ka = SymmetricKey(data: hash[16...])
    let confirmation = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: ka, salt: [UInt8](), info: Array("ConfirmationKeys".utf8) + additionalData, outputByteCount: 32)
    (kcA, kcB) = confirmation.withUnsafeBytes { bytes in
      (SymmetricKey(data: Array(bytes[..<16])), SymmetricKey(data: Array(bytes[16...])))
    }
    cA = Array(HMAC<SHA256>.authenticationCode(for: transcript, using: kcA))
    cB = Array(HMAC<SHA256>.authenticationCode(for: transcript, using: kcB))
  }

  /// TT: each part after its length as eight bytes, little-endian. An absent identity is empty.
  static func transcript(
    identityA: [UInt8], identityB: [UInt8], shareA: [UInt8], shareB: [UInt8], element: [UInt8], w: Scalar
  ) -> [UInt8] {
    var wBytes = w.bytes()
    defer { wipe(&wBytes) }
    var transcript: [UInt8] = []
    // Reserved at once, so that growing does not leave copies of K and w behind.
    transcript.reserveCapacity(6 * 8 + identityA.count + identityB.count + 3 * 65 + Scalar.byteCount)
    for part in [identityA, identityB, shareA, shareB, element, wBytes] {
      withUnsafeBytes(of: UInt64(part.count).littleEndian) { transcript.append(contentsOf: $0) }
      transcript.append(contentsOf: part)
    }
    return transcript
  }
}
