import PeerClient
import PeerProtocol

extension PeerError {
  /// One word for the audit log.
  var auditReason: String {
    switch self {
    case .pairing(let rejection): rejection.code
    case .certificateChanged: "certificate_changed"
    case .confirmationFailed: "confirmation_failed"
    case .unreachable, .handshakeFailed, .notHpeer: "unreachable"
    case .silent, .tooSlow, .connectionLost: "connection_lost"
    case .tokenRefused: "token_refused"
    case .anotherPerson: "another_person"
    case .personUnknown, .personNotCompared: "person_unknown"
    default: "other"
    }
  }
}
