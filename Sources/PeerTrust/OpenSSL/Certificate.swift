import COpenSSL

/// An X.509 certificate that OpenSSL holds.
final class Certificate {
  let pointer: OpaquePointer

  /// An empty certificate of version 3.
  init() throws(OpenSSLError) {
    guard let pointer = X509_new() else { throw OpenSSLError("X509_new") }
    self.pointer = pointer
    // The encoded number is the version less one (RFC 5280 section 4.1.2.1).
    guard X509_set_version(pointer, 2) == 1 else { throw OpenSSLError("X509_set_version") }
  }

  /// Reads the first certificate of a PEM.
  init(pem: String) throws(OpenSSLError) {
    let bio = try MemoryBIO(pem)
    guard let pointer = PEM_read_bio_X509(bio.pointer, nil, nil, nil) else { throw OpenSSLError("PEM_read_bio_X509") }
    self.pointer = pointer
  }

  deinit { X509_free(pointer) }

  func pem() throws(OpenSSLError) -> String {
    let bio = try MemoryBIO()
    guard PEM_write_bio_X509(bio.pointer, pointer) == 1 else { throw OpenSSLError("PEM_write_bio_X509") }
    return bio.readAll()
  }

  func der() throws(OpenSSLError) -> [UInt8] {
    var buffer: UnsafeMutablePointer<UInt8>?
    let count = i2d_X509(pointer, &buffer)
    guard count > 0, let buffer else { throw OpenSSLError("i2d_X509") }
    // OPENSSL_free is a macro over this function.
    defer { CRYPTO_free(buffer, #file, #line) }
    return Array(UnsafeBufferPointer(start: buffer, count: Int(count)))
  }

  func matches(_ key: PrivateKey) -> Bool {
    let result = X509_check_private_key(pointer, key.pointer) == 1
    ERR_clear_error()
    return result
  }
}
