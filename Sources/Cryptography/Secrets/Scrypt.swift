import COpenSSL

/// The scrypt function (RFC 7914) with r = 8 and p = 1. Uses libcrypto, which is optimized even in hpeer's debug
/// builds.
package enum Scrypt {
  /// Derives a key. Blocks, and takes 2^(`workFactor` + 10) bytes of memory: 256 MiB and about a second for 18.
  ///
  /// - Parameters:
  ///   - workFactor: the binary logarithm of N, 1 to 30.
  ///   - byteCount: the number of bytes to derive.
  package static func derive(
    password: borrowing SecretBytes, salt: [UInt8], workFactor: Int, byteCount: Int
  ) throws(OpenSSLError) -> SecretBytes {
    guard (1...30).contains(workFactor) else { throw OpenSSLError("scrypt with a work factor of \(workFactor)") }
    let rounds = UInt64(1) << UInt64(workFactor)
    var key = SecretBytes(count: byteCount)
    let isDerived = key.withMutableBytes { key in
      password.withBytes { password in
        // With a nil pointer, the function would only validate the parameters.
        var nothing: CChar = 0
        return withUnsafePointer(to: &nothing) { nothing in
          EVP_PBE_scrypt(
            password.bindMemory(to: CChar.self).baseAddress ?? nothing, password.count, salt, salt.count, rounds, 8, 1,
            1024 * rounds + (1 << 20), key.bindMemory(to: UInt8.self).baseAddress, key.count)
        }
      }
    }
    guard isDerived == 1 else { throw OpenSSLError("scrypt") }
    return key
  }
}
