import COpenSSL
import Foundation

/// HMAC with SHA-256 (RFC 2104).
public enum HMAC {
  /// Returns the authentication code of a message, 32 bytes.
  ///
  /// ```swift
  /// let code = HMAC.authenticationCode(for: Array("message".utf8), using: SymmetricKey(size: 32))
  /// ```
  public static func authenticationCode(for message: some ContiguousBytes, using key: SymmetricKey) -> [UInt8] {
    key.withUnsafeBytes { key in
      message.withUnsafeBytes { message in
        [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { code, count in
          // A nil key would reuse the key of the previous call.
          var nothing: UInt8 = 0
          let written = withUnsafePointer(to: &nothing) { nothing in
            COpenSSL.HMAC(
              EVP_sha256(), key.baseAddress ?? UnsafeRawPointer(nothing), Int32(key.count),
              message.bindMemory(to: UInt8.self).baseAddress ?? nothing, message.count, code.baseAddress, nil)
          }
          precondition(written != nil, "HMAC-SHA-256 fails only without memory")
          count = SHA256.byteCount
        }
      }
    }
  }

  /// Returns whether a code authenticates a message, in constant time.
  public static func isValidAuthenticationCode(
    _ code: [UInt8], authenticating message: some ContiguousBytes, using key: SymmetricKey
  ) -> Bool {
    ConstantTime.equal(code, authenticationCode(for: message, using: key))
  }
}

/// HKDF with SHA-256 (RFC 5869).
public enum HKDF {
  /// Returns a pseudorandom key from input that may not be uniform (section 2.2).
  public static func extract(inputKeyMaterial: SymmetricKey, salt: [UInt8]) -> SymmetricKey {
    // HMAC pads a short key with zeros, so an empty salt equals the RFC's default.
    let code = inputKeyMaterial.withUnsafeBytes {
      HMAC.authenticationCode(for: $0, using: SymmetricKey(data: salt))
    }
    return SymmetricKey(consuming: code)
  }

  /// Returns a key of `outputByteCount` bytes, at most 255 times 32, for the purpose given by `info` (section 2.3).
  public static func expand(pseudoRandomKey: SymmetricKey, info: [UInt8], outputByteCount: Int) -> SymmetricKey {
    precondition((1...255 * SHA256.byteCount).contains(outputByteCount), "RFC 5869 section 2.3")
    var output: [UInt8] = []
    output.reserveCapacity(outputByteCount + SHA256.byteCount)
    var block: [UInt8] = []
    var number: UInt8 = 0
    while output.count < outputByteCount {
      number += 1
      block = HMAC.authenticationCode(for: block + info + [number], using: pseudoRandomKey)
      output += block
    }
    output.removeSubrange(outputByteCount...)
    return SymmetricKey(consuming: output)
  }

  /// Extracts, then expands.
  ///
  /// ```swift
  /// let key = HKDF.deriveKey(
  ///   inputKeyMaterial: SymmetricKey(size: 32), salt: [], info: Array("example/1".utf8), outputByteCount: 32)
  /// ```
  public static func deriveKey(
    inputKeyMaterial: SymmetricKey, salt: [UInt8], info: [UInt8], outputByteCount: Int
  ) -> SymmetricKey {
    expand(
      pseudoRandomKey: extract(inputKeyMaterial: inputKeyMaterial, salt: salt), info: info,
      outputByteCount: outputByteCount)
  }
}
