import PeerProtocol

extension RotationStatement {
  /// Signs with the key of `old`, which must not be lost before.
  init(replacing old: PeerIdentity, by new: Fingerprint) throws(OpenSSLError) {
    let signature = try PrivateKey(pem: old.privateKeyPEM).sign(Self.message(old: old.fingerprint, new: new))
    guard let statement = Self(certificateDER: old.certificateDER, signature: signature) else {
      throw OpenSSLError("a certificate of \(old.certificateDER.count) bytes")
    }
    self = statement
  }

  /// The fingerprint of the certificate that was replaced.
  public var replaced: Fingerprint { Fingerprint(certificateDER: certificateDER) }

  /// Whether the old certificate's key has signed that `new` takes its place. Says nothing about who shows it.
  func isSigned(for new: Fingerprint) -> Bool {
    guard let certificate = try? Certificate(der: certificateDER) else { return false }
    return certificate.hasSigned(Self.message(old: replaced, new: new), signature)
  }
}
