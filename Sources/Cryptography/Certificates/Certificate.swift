import COpenSSL
import Foundation

/// An X.509 certificate, managed by OpenSSL.
package final class Certificate {
  let pointer: OpaquePointer

  /// Creates an empty certificate of version 3.
  package init() throws(OpenSSLError) {
    guard let pointer = X509_new() else { throw OpenSSLError("X509_new") }
    self.pointer = pointer
    // The encoded number is the version less one (RFC 5280 section 4.1.2.1).
    guard X509_set_version(pointer, 2) == 1 else { throw OpenSSLError("X509_set_version") }
  }

  /// Creates a certificate from the first one in a PEM.
  package init(pem: String) throws(OpenSSLError) {
    let bio = try MemoryBIO(pem)
    guard let pointer = PEM_read_bio_X509(bio.pointer, nil, nil, nil) else { throw OpenSSLError("PEM_read_bio_X509") }
    self.pointer = pointer
  }

  /// Creates a certificate from DER; throws if other bytes follow it.
  package init(der: [UInt8]) throws(OpenSSLError) {
    let read = der.withUnsafeBufferPointer { bytes -> (certificate: OpaquePointer?, isWhole: Bool) in
      var next = bytes.baseAddress
      let certificate = d2i_X509(nil, &next, bytes.count)
      return (certificate, next == bytes.baseAddress.map { $0 + bytes.count })
    }
    guard let certificate = read.certificate else { throw OpenSSLError("d2i_X509") }
    pointer = certificate
    guard read.isWhole else { throw OpenSSLError("d2i_X509: more than a certificate") }
  }

  deinit { X509_free(pointer) }

  package func pem() throws(OpenSSLError) -> String {
    let bio = try MemoryBIO()
    guard PEM_write_bio_X509(bio.pointer, pointer) == 1 else { throw OpenSSLError("PEM_write_bio_X509") }
    return bio.readAll()
  }

  package func der() throws(OpenSSLError) -> [UInt8] {
    var buffer: UnsafeMutablePointer<UInt8>?
    let count = i2d_X509(pointer, &buffer)
    guard count > 0, let buffer else { throw OpenSSLError("i2d_X509") }
    // OPENSSL_free is a macro over this function.
    defer { CRYPTO_free(buffer, #file, #line) }
    return Array(UnsafeBufferPointer(start: buffer, count: Int(count)))
  }

  /// Returns whether the certificate's key, which must be an elliptic-curve key, has signed the SHA-256 of `message`.
  package func hasSigned(_ message: [UInt8], _ signature: [UInt8]) -> Bool {
    defer { ERR_clear_error() }
    guard let key = X509_get0_pubkey(pointer), EVP_PKEY_get_base_id(key) == EVP_PKEY_EC,
      let context = EVP_MD_CTX_new()
    else { return false }
    defer { EVP_MD_CTX_free(context) }
    return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }

  package func matches(_ key: PrivateKey) -> Bool {
    let result = X509_check_private_key(pointer, key.pointer) == 1
    ERR_clear_error()
    return result
  }

  /// The validity period stated in the certificate; nil if it is missing or invalid.
  package var validity: DateInterval? {
    guard let start = Self.date(X509_get0_notBefore(pointer)), let end = Self.date(X509_get0_notAfter(pointer)),
      start <= end
    else { return nil }
    return DateInterval(start: start, end: end)
  }

  private static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date? {
    var fields = tm()
    guard let time, ASN1_TIME_to_tm(time, &fields) == 1 else { return nil }
    return Date(timeIntervalSince1970: TimeInterval(timegm(&fields)))
  }
}
