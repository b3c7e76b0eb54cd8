import Cryptography
import PeerProtocol

extension Fingerprint {
  /// The SHA-256 over the whole certificate, as both iPhone apps with `_healthsync._tcp` compute it.
  public init(certificateDER: some Sequence<UInt8>) {
    guard let fingerprint = Fingerprint(bytes: SHA256.hash(data: Array(certificateDER))) else {
      preconditionFailure("SHA-256 has 32 bytes")
    }
    self = fingerprint
  }
}
