import HealthModel

/// Something that happened to the record, or to the trust around it. Holds no sample values and no secrets.
public struct AuditEvent: Hashable, Sendable {
  /// What happened; the raw values are stable.
  public enum Name: String, Sendable, CaseIterable {
    /// `hpeer serve` accepts connections.
    case serverStarted = "server.started"
    /// `hpeer serve` has ended, because it was asked to or failed.
    case serverStopped = "server.stopped"
    /// The owner has locked this machine: no client is answered.
    case serverLocked = "server.locked"
    /// The owner has unlocked it.
    case serverUnlocked = "server.unlocked"
    /// A pairing window was opened at the server.
    case windowOpened = "window.opened"
    /// The window is gone: paired, expired or closed.
    case windowClosed = "window.closed"
    /// The window's last attempt failed.
    case windowLocked = "window.locked"
    /// A machine has paired with this one; `role` is `client` where this one asked.
    case pairingSucceeded = "pairing.succeeded"
    /// An attempt failed and was counted, or somebody was kept out.
    case pairingFailed = "pairing.failed"
    /// A client was told what this machine knows of their pairing; `reached` says what came of trying the way back.
    case pairingRead = "pairing.read"
    /// One of the two machines has unpaired; `by` says which.
    case pairingEnded = "pairing.ended"
    /// A request without a valid token. Of a flood, some are written, each with the number of those that were not.
    case tokenRefused = "token.refused"
    /// The owner has taken a client's token back, or all of them.
    case tokenRevoked = "token.revoked"
    /// A client asked whether both records are of one person.
    case personCompared = "person.compared"
    /// A client has claimed too many different persons.
    case personRefused = "person.refused"
    /// The owner pulls although the persons are different, or nobody can tell.
    case personConfirmed = "person.confirmed"
    /// The owner has changed what a client may read.
    case scopeChanged = "scope.changed"
    /// A paired machine calls itself something else by now.
    case peerRenamed = "peer.renamed"
    /// Two machines use the identity of a paired one: they were met in turns, last at `address`.
    case peerTwins = "peer.twins"
    /// This machine, or a paired one, has a new certificate.
    case identityRotated = "identity.rotated"
    /// A client was told how many types it may read.
    case statusRead = "status.read"
    /// A client was told how many samples of each type it may read.
    case typesListed = "types.listed"
    /// A client is sent more than one page of changes, from here on.
    case readStarted = "read.started"
    /// A client was sent samples or changes.
    case dataRead = "data.read"
    /// A client waits for changes as they happen.
    case followStarted = "follow.started"
    /// A client was sent a digest.
    case digestRead = "digest.read"
    /// A client was sent sums, means and extremes.
    case statisticsRead = "statistics.read"
    /// This machine begins to pull from a server.
    case pullStarted = "pull.started"
    /// A pull has come to the end of the server's changes, or what was watched has ended.
    case pullFinished = "pull.finished"
    /// A pull has ended before that. What it had committed stays.
    case pullFailed = "pull.failed"
    /// The digests of this machine and a server were compared.
    case verifyFinished = "verify.finished"
    /// The digests of this machine and a server could not be compared.
    case verifyFailed = "verify.failed"
    /// A file is being read into the store.
    case importStarted = "import.started"
    /// A file has been read to its end.
    case imported = "import"
    /// The inbox has taken a body of a sender; `count` says how many samples and readings it held.
    case inboxReceived = "inbox.received"
    /// The inbox has taken nothing of what was sent. Of a flood, some are written, each with the number of those that were not.
    case inboxRefused = "inbox.refused"
    /// The owner has changed who may send to the inbox; `change` says what: added, removed.
    case inboxChanged = "inbox.changed"
    /// The last import was taken back without a trace but this.
    case importUndone = "import.undone"
    /// Samples are about to be written out of the store.
    case exportStarted = "export.started"
    /// Samples have been written out; `count` says how many.
    case exported = "export"
    /// Samples are about to be delivered to a destination.
    case deliveryStarted = "delivery.started"
    /// A destination has everything; `count` says how many changes it was sent this time.
    case deliveryFinished = "delivery.finished"
    /// A delivery has ended before that. What the destination acknowledged stays.
    case deliveryFailed = "delivery.failed"
    /// The owner has changed what is delivered where; `change` says what: added, removed, paused, resumed, resynced.
    case destinationChanged = "destination.changed"
    /// An automation begins to do what it is for; `occasion` says why now.
    case automationStarted = "automation.started"
    /// It has done that.
    case automationFinished = "automation.finished"
    /// It has failed at that, or was interrupted; `reason` says why.
    case automationFailed = "automation.failed"
    /// `files` files were put into the folder of an automation that it does not take, of which `file` is one; `reason` says
    /// why: they are symbolic links (link), or their names are not UTF-8 (name).
    case automationPassedOver = "automation.passedOver"
    /// The owner has changed what is done by itself; `change` says what: added, removed, paused, resumed.
    case automationChanged = "automation.changed"
    /// The owner has deleted samples.
    case deleted = "delete"
    /// The owner has brought deleted samples back.
    case restored = "undelete"
    /// The owner has decided how numbers are made; `setting` says what of it, `from` and `to` what it was and is.
    case settingChanged = "setting.changed"
    /// A backup is about to be made; `contents` says whether of everything or of the record alone.
    case backedUp = "backup"
    /// This record was put back from a backup, which was made when `made` says.
    case backupRestored = "backup.restored"
    /// Counts that an older version had kept wrongly were corrected; no sample was changed. `hidden` is the number of deleted samples
    /// that were still counted as hidden, `types` the number of types with wrong counts.
    case storeHealed = "store.healed"
    /// Events of the log were removed because of their age; those that are left begin after it says.
    case auditPruned = "audit.pruned"
  }

  /// By the machine's clock, which may have been set back since the event before.
  public var time: Timestamp
  /// One of a fixed list, so that a log can be searched by it.
  public var name: Name
  /// Who, what, how much: `peer`, `address`, `reason`, `types`, `count`, `from`, `to`, ...
  public var detail: [String: String]

  /// - Parameter detail: neither secrets nor sample values. Texts of other machines are stored as they are, and escaped
  ///   when shown.
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
  /// See ``AuditEvent/time``.
  public var time: Timestamp
  /// An ``AuditEvent/Name`` raw value, or a name that a later version wrote.
  public var event: String
  /// See ``AuditEvent/detail``.
  public var detail: [String: String]

  /// How many reads it stands for; 1 for any other event.
  public var times: Int { detail[AuditRead.timesKey].flatMap { Int($0) } ?? 1 }
}
