import Crypto
import CryptoExtras
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
    try await BlockingWork.run { () throws(SPAKE2Error) -> Scalar in
      var wide = try wideBytes(code: code, salt: salt, serverID: serverID)
      defer { wipe(&wide) }
      return try Scalar(reducing: wide)
    }
  }

  /// Blocks.
  static func wideBytes(code: PairingCode, salt: [UInt8], serverID: PeerID) throws(SPAKE2Error) -> [UInt8] {
    do {
      let key = try KDF.Scrypt.deriveKey(
        from: Array(code.digits.utf8), salt: Self.salt(salt, serverID: serverID), outputByteCount: 48,
        rounds: 32_768, blockSize: 8, parallelism: 1)
      return key.withUnsafeBytes { Array($0) }
    } catch {
      throw .openSSL(OpenSSLError("scrypt"))
    }
  }
}
