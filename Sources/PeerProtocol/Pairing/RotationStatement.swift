import HealthModel

/// That another certificate has taken the place of a machine's old one, signed with the key of the old one.
///
/// Whoever knows the old certificate by its SHA-256 can check this, and then knows the machine by the new one. A client
/// shows it in the header field ``header``, on connections on which it shows the new certificate: only both together say
/// that the machine is the same. `docs/protocol/pairing.md` has it byte for byte.
public struct RotationStatement: Hashable, Sendable {
  /// The name of the request header field; its value is ``text``.
  public static let header = "Hpeer-Rotation"
  static let maximumCertificateByteCount = 2048
  static let maximumSignatureByteCount = 160

  /// The certificate that was replaced.
  public let certificateDER: [UInt8]
  /// By the old certificate's key: ECDSA with SHA-256 over ``message(old:new:)``, in the DER of RFC 3279 section 2.2.3.
  public let signature: [UInt8]

  /// Nil unless both have a possible length.
  public init?(certificateDER: [UInt8], signature: [UInt8]) {
    guard (1...Self.maximumCertificateByteCount).contains(certificateDER.count),
      (1...Self.maximumSignatureByteCount).contains(signature.count)
    else { return nil }
    self.certificateDER = certificateDER
    self.signature = signature
  }

  /// Reads ``text``.
  public init?(text: some StringProtocol) {
    guard text.utf8.count <= 4096 else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let certificate = RadixCoding.base64URL.decode(parts[0]),
      let signature = RadixCoding.base64URL.decode(parts[1])
    else { return nil }
    self.init(certificateDER: certificate, signature: signature)
  }

  /// Certificate and signature in base64url (RFC 4648 section 5, no padding), with a full stop between them.
  public var text: String {
    "\(RadixCoding.base64URL.encode(certificateDER)).\(RadixCoding.base64URL.encode(signature))"
  }

  /// What is signed. It is 79 bytes long and begins with its purpose: nothing that the key signs in a TLS handshake or
  /// in a certificate can be that.
  public static func message(old: Fingerprint, new: Fingerprint) -> [UInt8] {
    Array("hpeer-rotate/1\0".utf8) + old.bytes + new.bytes
  }
}
