import Cryptography
import OperatingSystem
import PeerProtocol

/// The derivation of SPAKE2's w from the six digits: scrypt (RFC 7914) with N = 32768, r = 8, p = 1, 48 bytes, modulo
/// n.
enum PasswordScalar {
  /// A function with the signature of ``derive(code:salt:serverID:)``, so that tests can avoid scrypt.
  typealias Derivation = @Sendable (PairingCode, [UInt8], PeerID) async throws(P256Error) -> Scalar

  static func salt(_ salt: [UInt8], serverID: PeerID) -> [UInt8] {
    Array("\(PairingProtocol.version) w\0".utf8) + PairingTranscript.prefixed(salt)
      + PairingTranscript.prefixed(serverID.bytes)
  }

  /// Derives w. Takes about 90 ms and 32 MiB, on a thread of its own.
  /// - Throws: `invalidScalar` if w is 0: use another code.
  static func derive(code: PairingCode, salt: [UInt8], serverID: PeerID) async throws(P256Error) -> Scalar {
    try await onThread { (_) throws(P256Error) -> Scalar in
      try Scalar(reducing: wideBytes(code: code, salt: salt, serverID: serverID))
    }
  }

  /// Returns the 48 bytes of scrypt's output. Blocks.
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
