import COpenSSL

/// The functions that build a certificate. Call ``sign(with:)`` last.
extension Certificate {
  /// Sets a serial number of 128 random bits (RFC 5280 section 4.1.2.2 allows 20 octets).
  package func setRandomSerialNumber() throws(OpenSSLError) {
    let bytes = SecureRandom.bytes(16)
    guard let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else { throw OpenSSLError("BN_bin2bn") }
    defer { BN_free(number) }
    guard BN_to_ASN1_INTEGER(number, X509_get_serialNumber(pointer)) != nil else {
      throw OpenSSLError("BN_to_ASN1_INTEGER")
    }
  }

  /// Sets the validity from a day ago, for clocks that lag, to `days` from now.
  package func setValidity(days: Int32) throws(OpenSSLError) {
    guard X509_time_adj_ex(X509_getm_notBefore(pointer), -1, 0, nil) != nil,
      X509_time_adj_ex(X509_getm_notAfter(pointer), days, 0, nil) != nil
    else { throw OpenSSLError("X509_time_adj_ex") }
  }

  /// Sets the common name of the subject.
  ///
  /// - Parameter issuer: the issuing certificate; `nil` for a self-signed one.
  package func setName(_ name: String, issuer: Certificate? = nil) throws(OpenSSLError) {
    guard let subject = X509_get_subject_name(pointer),
      X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, -1, -1, 0) == 1,
      let issuerName = issuer.map({ X509_get_subject_name($0.pointer) }) ?? subject,
      X509_set_issuer_name(pointer, issuerName) == 1
    else { throw OpenSSLError("X509_NAME_add_entry_by_txt") }
  }

  /// Adds an extension.
  ///
  /// - Parameters:
  ///   - kind: the extension to add.
  ///   - value: the value in the syntax of x509v3_config(5). It must not contain untrusted text.
  ///   - issuer: the issuing certificate; `nil` for a self-signed one.
  package func addExtension(
    _ kind: CertificateExtension, _ value: String, issuer: Certificate? = nil
  ) throws(OpenSSLError) {
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer?.pointer ?? pointer, pointer, nil, nil, 0)
    guard let item = X509V3_EXT_conf_nid(nil, &context, kind.nid, value) else {
      throw OpenSSLError("X509V3_EXT_conf_nid")
    }
    defer { X509_EXTENSION_free(item) }
    guard X509_add_ext(pointer, item, -1) == 1 else { throw OpenSSLError("X509_add_ext") }
  }

  package func setKey(_ key: PrivateKey) throws(OpenSSLError) {
    guard X509_set_pubkey(pointer, key.pointer) == 1 else { throw OpenSSLError("X509_set_pubkey") }
  }

  package func sign(with key: PrivateKey) throws(OpenSSLError) {
    guard X509_sign(pointer, key.pointer, EVP_sha256()) > 0 else { throw OpenSSLError("X509_sign") }
  }
}

/// The extensions of a certificate (RFC 5280 section 4.2.1) that hpeer writes.
package enum CertificateExtension: Sendable {
  case authorityKeyIdentifier, basicConstraints, extendedKeyUsage, keyUsage, nameConstraints, subjectAlternativeName
  case subjectKeyIdentifier

  fileprivate var nid: Int32 {
    switch self {
    case .authorityKeyIdentifier: NID_authority_key_identifier
    case .basicConstraints: NID_basic_constraints
    case .extendedKeyUsage: NID_ext_key_usage
    case .keyUsage: NID_key_usage
    case .nameConstraints: NID_name_constraints
    case .subjectAlternativeName: NID_subject_alt_name
    case .subjectKeyIdentifier: NID_subject_key_identifier
    }
  }
}
