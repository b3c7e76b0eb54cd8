import PeerClient
import PeerProtocol

extension PeerError {
  /// One word for the audit log.
  var auditReason: String {
    switch self {
    case .pairing(let rejection): rejection.code
    case .codeRefused: "code_refused"
    case .phoneLocked: "phone_locked"
    case .machineLocked: "machine_locked"
    case .typesUnread: "types_unread"
    case .confirmationFailed: "confirmation_failed"
    case .tokenRefused: "token_refused"
    case .onlyDaily: "only_daily"
    case .thisMachine: "this_machine"
    case .personUnknown, .personNotCompared: "person_unknown"
    default:
      switch category {
      case .unreachable: "unreachable"
      case .interrupted: "connection_lost"
      case .certificateChanged: "certificate_changed"
      case .anotherPerson: "another_person"
      case .refused, .temporary, .failing, .malformed, .locked: "other"
      }
    }
  }
}
