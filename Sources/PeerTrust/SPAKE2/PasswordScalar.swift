import COpenSSL
import OperatingSystem
import PeerProtocol

/// The way from the six digits to SPAKE2's w: scrypt (RFC 7914) with N = 32768, r = 8, p = 1, 48 bytes, modulo n.
enum PasswordScalar {
  /// The shape of ``derive(code:salt:serverID:)``, so that tests need not wait for scrypt.
  typealias Derivation = @Sendable (PairingCode, [UInt8], PeerID) async throws(SPAKE2Error) -> Scalar

  static func salt(_ salt: [UInt8], serverID: PeerID) -> [UInt8] {
    Array("\(PairingProtocol.version) w\0".utf8) + PairingTranscript.prefixed(salt)
      + PairingTranscript.prefixed(serverID.bytes)
  }

  /// Takes about 90 ms and 32 MiB, on a thread of its own.
  /// - Throws: `invalidScalar` if w is 0: take another code.
  static func derive(code: PairingCode, salt: [UInt8], serverID: PeerID) async throws(SPAKE2Error) -> Scalar {
    try await onThread { (_) throws(SPAKE2Error) -> Scalar in
      try Scalar(reducing: wideBytes(code: code, salt: salt, serverID: serverID))
    }
  }

  /// Blocks. libcrypto's scrypt, because it is optimised also where hpeer is not.
  static func wideBytes(code: PairingCode, salt: [UInt8], serverID: PeerID) throws(SPAKE2Error) -> SecretBytes {
    let digits = SecretBytes(copying: code.digits.utf8)
    let salt = Self.salt(salt, serverID: serverID)
    var wide = SecretBytes(count: 48)
    let isDerived = wide.withMutableBytes { wide in
      digits.withBytes { digits in
        // 128 * N * r = 32 MiB, and a little more than that.
        EVP_PBE_scrypt(
          digits.baseAddress, digits.count, salt, salt.count, 32_768, 8, 1, 64 << 20, wide.baseAddress, wide.count)
      }
    }
    guard isDerived == 1 else { throw .openSSL(OpenSSLError("scrypt")) }
    return wide
  }
}
