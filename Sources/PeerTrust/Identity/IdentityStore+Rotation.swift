import Cryptography
import Foundation
import OperatingSystem
import PeerProtocol

extension IdentityStore {
  /// Replaces the key and certificate with new ones and deletes the old ones. The ID stays: it is the same machine.
  ///
  /// The old key signs the new certificate (``PeerIdentity/rotation``), so that servers recognize this machine.
  /// Clients have pinned the old certificate and must pair again. A running server keeps using the old certificate
  /// until it is restarted.
  ///
  /// - Throws: `missing` if there is no identity yet, or the error in the present identity, which is then left alone.
  public static func rotate(in directory: URL) async throws(IdentityError) -> PeerIdentity {
    try await onThread { (_) throws(IdentityError) -> PeerIdentity in
      let path = "\(directory.path)/\(directoryName)"
      guard try load(path) != nil else { throw .missing(path: path) }
      return try locked(directory.path) {
        guard let present = try load(path) else { throw IdentityError.missing(path: path) }
        let (identity, draft) = try draft(of: present.id, replacing: present, beside: path)
        try PrivateFile.exchange(draft, path)
        discard(draft)
        return identity
      }
    }
  }
}

extension RotationStatement {
  /// Creates a statement signed with the key of `old`. Call it before that key is deleted.
  init(replacing old: PeerIdentity, by new: Fingerprint) throws(OpenSSLError) {
    let signature = try PrivateKey(pem: old.privateKeyPEM).sign(Self.message(old: old.fingerprint, new: new))
    guard let statement = Self(certificateDER: old.certificateDER, signature: signature) else {
      throw OpenSSLError("a certificate of \(old.certificateDER.count) bytes")
    }
    self = statement
  }

  /// The fingerprint of the certificate that was replaced.
  public var replaced: Fingerprint { Fingerprint(certificateDER: certificateDER) }

  /// Returns whether the old certificate's key has signed `new` as its replacement. Does not prove who presents the
  /// statement.
  func isSigned(for new: Fingerprint) -> Bool {
    guard let certificate = try? Certificate(der: certificateDER) else { return false }
    return certificate.hasSigned(Self.message(old: replaced, new: new), signature)
  }
}
