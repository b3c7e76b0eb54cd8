import Cryptography
import Foundation
import PeerProtocol

/// The identity that this machine shows to its peers: an ID, a certificate that they pin, and its private key.
public struct PeerIdentity: Hashable, Sendable {
  /// The `serverID` of `hpeer-pair/1`. It stays the same when the certificate is replaced. Servers know this machine
  /// by its certificate instead.
  public let id: PeerID
  /// The certificate in PEM (RFC 7468): self-signed, P-256, public.
  public let certificatePEM: String
  /// The private key in PKCS #8, unencrypted: a secret.
  public let privateKeyPEM: String
  /// The same certificate in DER (ITU-T X.690), as it travels in TLS.
  public let certificateDER: [UInt8]
  /// The SHA-256 of ``certificateDER``, which peers pin.
  public let fingerprint: Fingerprint
  /// The statement of the previous certificate's key about this certificate; nil if there was no previous
  /// certificate.
  public let rotation: RotationStatement?

  /// Creates an identity.
  ///
  /// - Throws: a reason if either PEM cannot be read or the two do not belong together.
  init(
    id: PeerID, certificatePEM: String, privateKeyPEM: String, rotation: RotationStatement? = nil
  ) throws(Defect) {
    let certificate: Certificate
    do { certificate = try Certificate(pem: certificatePEM) } catch { throw .certificate(error.reason) }
    let key: PrivateKey
    do { key = try PrivateKey(pem: privateKeyPEM) } catch { throw .key(error.reason) }
    guard certificate.matches(key) else { throw .mismatch }
    do { certificateDER = try certificate.der() } catch { throw .certificate(error.reason) }
    self.id = id
    self.certificatePEM = certificatePEM
    self.privateKeyPEM = privateKeyPEM
    self.rotation = rotation
    fingerprint = Fingerprint(certificateDER: certificateDER)
  }

  enum Defect: Error {
    case certificate(String)
    case key(String)
    case mismatch
  }
}

extension PeerIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "PeerIdentity(\(id.short), \(fingerprint.hex))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["id": id, "fingerprint": fingerprint]) }
}

extension PeerIdentity {
  /// The validity period stated in the certificate, or nil if it states none. Peers pin the certificate and ignore
  /// its dates; a strict TLS library may check them.
  public var validity: DateInterval? { (try? Certificate(pem: certificatePEM))?.validity }
}
