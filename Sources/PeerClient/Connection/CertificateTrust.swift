import NIOCore
import NIOSSL
import PeerProtocol
import PeerTrust
import Synchronization

/// The certificates that a connection accepts.
public enum CertificateTrust: Hashable, Sendable {
  /// Certificate pinning: only this fingerprint is accepted. That is decided in the handshake, before a byte of the
  /// request is sent.
  case pinned(Fingerprint, peer: String)
  /// Any certificate, whose fingerprint is remembered for pairing, where SPAKE2 binds the code to it. Never send a
  /// secret over such a connection.
  case anyForPairing
}

/// A verifier that checks the server's certificate in the handshake and remembers its fingerprint.
final class CertificateJudge: Sendable {
  private let trust: CertificateTrust
  private let seenFingerprint = Mutex<Fingerprint?>(nil)

  init(_ trust: CertificateTrust) {
    self.trust = trust
  }

  /// The SHA-256 of the server's leaf certificate; `nil` before the handshake.
  var seen: Fingerprint? { seenFingerprint.withLock(\.self) }

  /// The error to report if the handshake failed because of the pin.
  var mismatch: PeerError? {
    guard case .pinned(let pinned, let peer) = trust, let seen, seen != pinned else { return nil }
    return .certificateChanged(peer: peer, pinned: pinned, seen: seen)
  }

  /// Verifies a certificate chain. The certificate's names and dates are ignored because the pin is the identity.
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
