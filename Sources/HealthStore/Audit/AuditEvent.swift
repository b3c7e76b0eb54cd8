import HealthModel

/// Something that happened to the record, or to the trust around it. Holds no sample values and no secrets.
public struct AuditEvent: Hashable, Sendable {
  /// What happened; the raw values are stable.
  public enum Name: String, Sendable, CaseIterable {
    case serverStarted = "server.started"
    case serverStopped = "server.stopped"
    case windowOpened = "window.opened"
    case windowClosed = "window.closed"
    case windowLocked = "window.locked"
    case pairingSucceeded = "pairing.succeeded"
    case pairingFailed = "pairing.failed"
    case pairingEnded = "pairing.ended"
    case tokenRefused = "token.refused"
    case tokenRevoked = "token.revoked"
    case personCompared = "person.compared"
    case personRefused = "person.refused"
    case personConfirmed = "person.confirmed"
    case scopeChanged = "scope.changed"
    case peerRenamed = "peer.renamed"
    case identityRotated = "identity.rotated"
    case statusRead = "status.read"
    case typesListed = "types.listed"
    case readStarted = "read.started"
    case dataRead = "data.read"
    case followStarted = "follow.started"
    case digestRead = "digest.read"
    case pullStarted = "pull.started"
    case pullFinished = "pull.finished"
    case pullFailed = "pull.failed"
    case verifyFinished = "verify.finished"
    case verifyFailed = "verify.failed"
    case importStarted = "import.started"
    case imported = "import"
    case importUndone = "import.undone"
    case exportStarted = "export.started"
    case exported = "export"
    case deleted = "delete"
    case restored = "undelete"
    case auditPruned = "audit.pruned"
  }

  public var time: Timestamp
  public var name: Name
  /// Who, what, how much: `peer`, `address`, `reason`, `types`, `count`, `from`, `to`, ...
  public var detail: [String: String]

  public init(_ name: Name, _ detail: [String: String] = [:], time: Timestamp = .now) {
    self.name = name
    self.detail = detail
    self.time = time
  }
}

/// A stored event.
public struct AuditRecord: Hashable, Sendable {
  /// 0 for reads that are counted and not in the chain yet.
  public var id: Int64
  public var time: Timestamp
  /// An ``AuditEvent/Name`` raw value, or a name that a later version wrote.
  public var event: String
  public var detail: [String: String]

  /// How many reads it stands for; 1 for any other event.
  public var times: Int { detail[AuditRead.timesKey].flatMap { Int($0) } ?? 1 }
}
