import Cryptography
import Foundation
import PeerProtocol

/// Who this machine is to its peers: an ID, a certificate that they pin, and its private key.
public struct PeerIdentity: Hashable, Sendable {
  /// `serverID` of `hpeer-pair/1`, which stays when the certificate is replaced. Servers know this machine by its
  /// certificate.
  public let id: PeerID
  /// Self-signed, P-256 (RFC 7468); shown to everyone.
  public let certificatePEM: String
  /// PKCS #8, unencrypted: a secret.
  public let privateKeyPEM: String
  /// The same certificate in DER (ITU-T X.690), as it travels in TLS.
  public let certificateDER: [UInt8]
  /// The SHA-256 of ``certificateDER``, which peers pin.
  public let fingerprint: Fingerprint
  /// What the certificate before this one says of it; nil if there was none.
  public let rotation: RotationStatement?

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
  /// From when until when the certificate says that it is valid. Peers pin the certificate and do not look; a strict TLS
  /// library may. Nil if the certificate does not say.
  public var validity: DateInterval? { (try? Certificate(pem: certificatePEM))?.validity }
}
