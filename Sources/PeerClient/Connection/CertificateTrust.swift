import NIOCore
import NIOSSL
import PeerProtocol
import PeerTrust
import Synchronization

/// Which certificate a connection accepts.
public enum CertificateTrust: Hashable, Sendable {
  /// Certificate pinning: only this fingerprint is accepted, and that is decided in the handshake, before a byte of the
  /// request is sent.
  case pinned(Fingerprint, peer: String)
  /// Any, remembered: for pairing, where SPAKE2 binds the code to the certificate that was seen. Nothing secret may be
  /// sent over such a connection.
  case anyForPairing
}

/// Judges the server's certificate in the handshake and remembers it.
final class CertificateJudge: Sendable {
  private let trust: CertificateTrust
  private let seenFingerprint = Mutex<Fingerprint?>(nil)

  init(_ trust: CertificateTrust) {
    self.trust = trust
  }

  /// The SHA-256 of the leaf certificate that the server showed; `nil` before the handshake.
  var seen: Fingerprint? { seenFingerprint.withLock(\.self) }

  /// What to tell the person when the handshake failed because of the pin.
  var mismatch: PeerError? {
    guard case .pinned(let pinned, let peer) = trust, let seen, seen != pinned else { return nil }
    return .certificateChanged(peer: peer, pinned: pinned, seen: seen)
  }

  /// Names and dates of the certificate are not looked at: the pin is the identity.
  func judge(_ chain: [NIOSSLCertificate]) -> NIOSSLVerificationResult {
    guard let leaf = chain.first, let der = try? leaf.toDERBytes() else { return .failed }
    let fingerprint = Fingerprint(certificateDER: der)
    seenFingerprint.withLock { $0 = fingerprint }
    switch trust {
    case .pinned(let pinned, _): return fingerprint == pinned ? .certificateVerified : .failed
    case .anyForPairing: return .certificateVerified
    }
  }
}

extension PeerIdentity {
  var tlsCertificate: NIOSSLCertificate {
    get throws { try NIOSSLCertificate(bytes: certificateDER, format: .der) }
  }

  var tlsPrivateKey: NIOSSLPrivateKey {
    get throws { try NIOSSLPrivateKey(bytes: Array(privateKeyPEM.utf8), format: .pem) }
  }
}
