import HealthModel

/// A statement, signed with a machine's old key, that a new certificate replaces the old one.
///
/// A peer that knows the SHA-256 of the old certificate can check the statement and then accept the new one. A client
/// sends it in the header field ``header``, on connections that use the new certificate. Only both together prove
/// that the machine is the same. `docs/protocol/pairing.md` specifies the bytes.
public struct RotationStatement: Hashable, Sendable {
  /// The name of the request header field; its value is ``text``.
  public static let header = "Hpeer-Rotation"
  static let maximumCertificateByteCount = 2048
  static let maximumSignatureByteCount = 160

  /// The certificate that was replaced.
  public let certificateDER: [UInt8]
  /// The old key's signature: ECDSA with SHA-256 over ``message(old:new:)``, in the DER of RFC 3279 section 2.2.3.
  public let signature: [UInt8]

  /// Creates a statement, or returns `nil` unless both parts have a possible length. Does not verify the signature.
  public init?(certificateDER: [UInt8], signature: [UInt8]) {
    guard (1...Self.maximumCertificateByteCount).contains(certificateDER.count),
      (1...Self.maximumSignatureByteCount).contains(signature.count)
    else { return nil }
    self.certificateDER = certificateDER
    self.signature = signature
  }

  /// Parses ``text``.
  public init?(text: some StringProtocol) {
    guard text.utf8.count <= 4096 else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let certificate = RadixCoding.base64URL.decode(parts[0]),
      let signature = RadixCoding.base64URL.decode(parts[1])
    else { return nil }
    self.init(certificateDER: certificate, signature: signature)
  }

  /// The certificate and the signature in base64url (RFC 4648 section 5, no padding), separated by a full stop.
  public var text: String {
    "\(RadixCoding.base64URL.encode(certificateDER)).\(RadixCoding.base64URL.encode(signature))"
  }

  /// Returns the signed message, 79 bytes long. It begins with its purpose, so it cannot be confused with anything
  /// that the key signs in a TLS handshake or a certificate.
  public static func message(old: Fingerprint, new: Fingerprint) -> [UInt8] {
    Array("hpeer-rotate/1\0".utf8) + old.bytes + new.bytes
  }
}
