import Cryptography
import Foundation
import OperatingSystem
import PeerProtocol

extension IdentityStore {
  /// Makes a new key and certificate in place of the present ones, which are deleted. The ID stays: it is the same machine.
  ///
  /// The old key's last act is to sign the new certificate (``PeerIdentity/rotation``), by which servers know this machine
  /// again. Clients have pinned the old certificate and must pair again. A server that is running goes on with the old one
  /// until it is started again.
  ///
  /// - Throws: `missing` if there is no identity yet; whatever is wrong with the present one, which is then left alone.
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
