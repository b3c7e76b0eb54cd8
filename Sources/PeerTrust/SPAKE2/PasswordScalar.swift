import Cryptography
import OperatingSystem
import PeerProtocol

/// The way from the six digits to SPAKE2's w: scrypt (RFC 7914) with N = 32768, r = 8, p = 1, 48 bytes, modulo n.
enum PasswordScalar {
  /// The shape of ``derive(code:salt:serverID:)``, so that tests need not wait for scrypt.
  typealias Derivation = @Sendable (PairingCode, [UInt8], PeerID) async throws(P256Error) -> Scalar

  static func salt(_ salt: [UInt8], serverID: PeerID) -> [UInt8] {
    Array("\(PairingProtocol.version) w\0".utf8) + PairingTranscript.prefixed(salt)
      + PairingTranscript.prefixed(serverID.bytes)
  }

  /// Takes about 90 ms and 32 MiB, on a thread of its own.
  /// - Throws: `invalidScalar` if w is 0: take another code.
  static func derive(code: PairingCode, salt: [UInt8], serverID: PeerID) async throws(P256Error) -> Scalar {
    try await onThread { (_) throws(P256Error) -> Scalar in
      try Scalar(reducing: wideBytes(code: code, salt: salt, serverID: serverID))
    }
  }

  /// Blocks.
  static func wideBytes(code: PairingCode, salt: [UInt8], serverID: PeerID) throws(P256Error) -> SecretBytes {
    do throws(OpenSSLError) {
      // N = 2^15; 128 * N * r = 32 MiB.
      return try Scrypt.derive(
        password: SecretBytes(copying: code.digits.utf8), salt: Self.salt(salt, serverID: serverID), workFactor: 15,
        byteCount: 48)
    } catch {
      throw .openSSL(error)
    }
  }
}
