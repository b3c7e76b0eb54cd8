import COpenSSL

/// scrypt (RFC 7914) with r = 8 and p = 1. libcrypto's, because it is optimised also where hpeer is not.
package enum Scrypt {
  /// Blocks, and takes 2^(`workFactor` + 10) bytes of memory: 256 MiB and about a second for 18.
  ///
  /// - Parameters:
  ///   - password: hashed; its owner overwrites it.
  ///   - workFactor: the binary logarithm of N.
  ///   - byteCount: how many bytes to derive.
  package static func derive(
    password: [UInt8], salt: [UInt8], workFactor: Int, byteCount: Int
  ) throws(OpenSSLError) -> [UInt8] {
    guard (1...30).contains(workFactor) else { throw OpenSSLError("scrypt with a work factor of \(workFactor)") }
    var key = [UInt8](repeating: 0, count: byteCount)
    let rounds = UInt64(1) << UInt64(workFactor)
    let isDerived = password.withUnsafeBufferPointer { password in
      // A nil pointer would only ask whether the numbers are within their limits.
      password.withMemoryRebound(to: CChar.self) { password in
        var nothing: CChar = 0
        return withUnsafePointer(to: &nothing) { nothing in
          EVP_PBE_scrypt(
            password.baseAddress ?? nothing, password.count, salt, salt.count, rounds, 8, 1, 1024 * rounds + (1 << 20),
            &key, key.count)
        }
      }
    }
    guard isDerived == 1 else { throw OpenSSLError("scrypt") }
    return key
  }
}
