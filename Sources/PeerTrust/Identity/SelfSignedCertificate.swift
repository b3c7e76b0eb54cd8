import Cryptography
import PeerProtocol

/// The self-signed certificate that a machine creates at its first run: ECDSA on P-256, X.509 version 3.
///
/// Peers pin its SHA-256, so its contents matter only to strict TLS libraries: a SAN, `serverAuth` and `clientAuth`,
/// and a validity that begins a day early for clocks that lag and lasts 25 years. The subject names the product,
/// never a person.
enum SelfSignedCertificate {
  static let validityInDays: Int32 = 9131

  static func make(for id: PeerID, key: PrivateKey) throws(OpenSSLError) -> Certificate {
    let certificate = try Certificate()
    try certificate.setRandomSerialNumber()
    try certificate.setValidity(days: validityInDays)
    try certificate.setName("hpeer")
    try certificate.setKey(key)
    for (kind, value): (CertificateExtension, String) in [
      (.basicConstraints, "critical,CA:FALSE"),
      (.keyUsage, "critical,digitalSignature"),
      (.extendedKeyUsage, "serverAuth,clientAuth"),
      (.subjectAlternativeName, "DNS:hpeer-\(id.short).local,DNS:localhost"),
      (.subjectKeyIdentifier, "hash"),
    ] {
      try certificate.addExtension(kind, value)
    }
    try certificate.sign(with: key)
    return certificate
  }
}
