import COpenSSL
import PeerProtocol

/// The certificate that a machine makes for itself at its first run: ECDSA on P-256, X.509 version 3.
///
/// Peers pin its SHA-256, so what it says matters only to strict TLS libraries: a SAN, `serverAuth` and `clientAuth`,
/// and a validity that begins a day early for clocks that lag and ends in 25 years. The subject names the product,
/// never a person.
enum SelfSignedCertificate {
  static let validityInDays: Int32 = 9131

  static func make(for id: PeerID, key: PrivateKey) throws(OpenSSLError) -> Certificate {
    let certificate = try Certificate()
    try setSerialNumber(certificate)
    try setValidity(certificate)
    try setNames(certificate)
    guard X509_set_pubkey(certificate.pointer, key.pointer) == 1 else { throw OpenSSLError("X509_set_pubkey") }
    for (nid, value) in [
      (NID_basic_constraints, "critical,CA:FALSE"),
      (NID_key_usage, "critical,digitalSignature"),
      (NID_ext_key_usage, "serverAuth,clientAuth"),
      (NID_subject_alt_name, "DNS:hpeer-\(id.short).local,DNS:localhost"),
      (NID_subject_key_identifier, "hash"),
    ] {
      try addExtension(nid, value, to: certificate)
    }
    guard X509_sign(certificate.pointer, key.pointer, EVP_sha256()) > 0 else { throw OpenSSLError("X509_sign") }
    return certificate
  }

  /// 128 random bits (RFC 5280 section 4.1.2.2 allows 20 octets).
  private static func setSerialNumber(_ certificate: Certificate) throws(OpenSSLError) {
    let bytes = SecureRandom.bytes(16)
    guard let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else { throw OpenSSLError("BN_bin2bn") }
    defer { BN_free(number) }
    guard BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.pointer)) != nil else {
      throw OpenSSLError("BN_to_ASN1_INTEGER")
    }
  }

  private static func setValidity(_ certificate: Certificate) throws(OpenSSLError) {
    guard X509_time_adj_ex(X509_getm_notBefore(certificate.pointer), -1, 0, nil) != nil,
      X509_time_adj_ex(X509_getm_notAfter(certificate.pointer), validityInDays, 0, nil) != nil
    else { throw OpenSSLError("X509_time_adj_ex") }
  }

  private static func setNames(_ certificate: Certificate) throws(OpenSSLError) {
    guard let name = X509_get_subject_name(certificate.pointer),
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, "hpeer", -1, -1, 0) == 1,
      X509_set_issuer_name(certificate.pointer, name) == 1
    else { throw OpenSSLError("X509_NAME_add_entry_by_txt") }
  }

  private static func addExtension(_ nid: Int32, _ value: String, to certificate: Certificate) throws(OpenSSLError) {
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, certificate.pointer, certificate.pointer, nil, nil, 0)
    guard let item = X509V3_EXT_conf_nid(nil, &context, nid, value) else { throw OpenSSLError("X509V3_EXT_conf_nid") }
    defer { X509_EXTENSION_free(item) }
    guard X509_add_ext(certificate.pointer, item, -1) == 1 else { throw OpenSSLError("X509_add_ext") }
  }
}
