import COpenSSL

/// An asymmetric private key, managed by OpenSSL.
package final class PrivateKey {
  let pointer: OpaquePointer

  private init(_ pointer: OpaquePointer) { self.pointer = pointer }

  deinit { EVP_PKEY_free(pointer) }

  /// Returns a new key on P-256.
  package static func generateP256() throws(OpenSSLError) -> PrivateKey {
    guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { throw OpenSSLError("EVP_PKEY_CTX_new_id") }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1,
      EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
      EVP_PKEY_keygen(context, &key) == 1, let key
    else { throw OpenSSLError("EVP_PKEY_keygen") }
    return PrivateKey(key)
  }

  /// Creates a key from an unencrypted PEM.
  package convenience init(pem: String) throws(OpenSSLError) {
    let bio = try MemoryBIO(pem)
    // Without a callback OpenSSL would ask for an encrypted key's passphrase on the terminal.
    guard let key = PEM_read_bio_PrivateKey(bio.pointer, nil, { _, _, _, _ in -1 }, nil) else {
      throw OpenSSLError("PEM_read_bio_PrivateKey")
    }
    self.init(key)
  }

  /// Returns a signature over the SHA-256 of `message`; for an elliptic-curve key, an ECDSA signature in DER.
  package func sign(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
    guard let context = EVP_MD_CTX_new() else { throw OpenSSLError("EVP_MD_CTX_new") }
    defer { EVP_MD_CTX_free(context) }
    var count = 0
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, pointer) == 1,
      EVP_DigestSign(context, nil, &count, message, message.count) == 1
    else { throw OpenSSLError("EVP_DigestSignInit") }
    var signature = [UInt8](repeating: 0, count: count)
    guard EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else {
      throw OpenSSLError("EVP_DigestSign")
    }
    return Array(signature.prefix(count))
  }

  /// Returns the key as PKCS #8 in PEM, unencrypted.
  package func pem() throws(OpenSSLError) -> String {
    let bio = try MemoryBIO()
    guard PEM_write_bio_PKCS8PrivateKey(bio.pointer, pointer, nil, nil, 0, nil, nil) == 1 else {
      throw OpenSSLError("PEM_write_bio_PKCS8PrivateKey")
    }
    return bio.readAll()
  }
}
