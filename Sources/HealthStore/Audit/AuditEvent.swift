import HealthModel

/// An event concerning the record or the trust between machines. Contains no sample values and no secrets.
public struct AuditEvent: Hashable, Sendable {
  /// The kind of an event. The raw values are stable.
  public enum Name: String, Sendable, CaseIterable {
    /// `hpeer serve` accepts connections.
    case serverStarted = "server.started"
    /// `hpeer serve` has ended, by request or because of an error.
    case serverStopped = "server.stopped"
    /// The owner has locked this machine: it answers no client.
    case serverLocked = "server.locked"
    /// The owner has unlocked this machine.
    case serverUnlocked = "server.unlocked"
    /// A pairing window was opened at the server.
    case windowOpened = "window.opened"
    /// The pairing window has closed, after a pairing, by expiry or by request.
    case windowClosed = "window.closed"
    /// The window's last attempt failed.
    case windowLocked = "window.locked"
    /// A machine has paired with this one; `role` is `client` if this machine requested it.
    case pairingSucceeded = "pairing.succeeded"
    /// A pairing attempt failed and was counted, or was rejected.
    case pairingFailed = "pairing.failed"
    /// A client received this machine's state of their pairing. `reached` is the result of connecting back to the
    /// client.
    case pairingRead = "pairing.read"
    /// A pairing was ended by `by`, one of the two machines.
    case pairingEnded = "pairing.ended"
    /// A request had no valid token. Of many such requests, only some are recorded, each with the number of omitted
    /// ones.
    case tokenRefused = "token.refused"
    /// The owner has revoked a client's token, or all tokens.
    case tokenRevoked = "token.revoked"
    /// A client asked whether both records belong to the same person.
    case personCompared = "person.compared"
    /// A client has claimed too many different persons.
    case personRefused = "person.refused"
    /// The owner pulls although the persons differ or are unknown.
    case personConfirmed = "person.confirmed"
    /// The owner has changed what a client may read.
    case scopeChanged = "scope.changed"
    /// A paired machine has changed its name.
    case peerRenamed = "peer.renamed"
    /// Two machines use the identity of a paired one: requests came from both in turns, most recently from `address`.
    case peerTwins = "peer.twins"
    /// This machine, or a paired one, has a new certificate.
    case identityRotated = "identity.rotated"
    /// A client received the number of types that it may read.
    case statusRead = "status.read"
    /// A client received the number of samples of each type that it may read.
    case typesListed = "types.listed"
    /// A client begins to receive more than one page of changes.
    case readStarted = "read.started"
    /// A client received samples or changes.
    case dataRead = "data.read"
    /// A client waits for changes as they happen.
    case followStarted = "follow.started"
    /// A client received a digest.
    case digestRead = "digest.read"
    /// A client received sums, means and extremes.
    case statisticsRead = "statistics.read"
    /// This machine begins to pull from a server.
    case pullStarted = "pull.started"
    /// A pull has reached the end of the server's changes, or following a server has ended.
    case pullFinished = "pull.finished"
    /// A pull has ended early. Committed changes stay.
    case pullFailed = "pull.failed"
    /// The digests of this machine and a server were compared.
    case verifyFinished = "verify.finished"
    /// The digests of this machine and a server could not be compared.
    case verifyFailed = "verify.failed"
    /// A file is being read into the store.
    case importStarted = "import.started"
    /// A file has been read to its end.
    case imported = "import"
    /// The inbox has accepted a message; `count` is the number of samples and readings in it.
    case inboxReceived = "inbox.received"
    /// The inbox has rejected a message completely. Of many such messages, only some are recorded, each with the
    /// number of omitted ones.
    case inboxRefused = "inbox.refused"
    /// The owner has changed the senders of the inbox; `change` is `added` or `removed`.
    case inboxChanged = "inbox.changed"
    /// The last import was undone. This event is the only trace of it.
    case importUndone = "import.undone"
    /// Samples are about to be exported.
    case exportStarted = "export.started"
    /// Samples have been exported; `count` is their number.
    case exported = "export"
    /// Samples are about to be delivered to a destination.
    case deliveryStarted = "delivery.started"
    /// A destination has received everything; `count` is the number of changes in this delivery.
    case deliveryFinished = "delivery.finished"
    /// A delivery has ended early. Changes that the destination acknowledged stay there.
    case deliveryFailed = "delivery.failed"
    /// The owner has changed a destination; `change` is `added`, `removed`, `paused`, `resumed` or `resynced`.
    case destinationChanged = "destination.changed"
    /// An automation has started; `occasion` is the reason.
    case automationStarted = "automation.started"
    /// An automation has finished.
    case automationFinished = "automation.finished"
    /// An automation has failed or was interrupted; `reason` is the reason.
    case automationFailed = "automation.failed"
    /// An automation has skipped `files` files in its folder, for example `file`. `reason` is `link` for symbolic
    /// links, or `name` for names that are not UTF-8.
    case automationPassedOver = "automation.passedOver"
    /// The owner has changed an automation; `change` is `added`, `removed`, `paused` or `resumed`.
    case automationChanged = "automation.changed"
    /// The owner has deleted samples.
    case deleted = "delete"
    /// The owner has restored deleted samples.
    case restored = "undelete"
    /// The owner has changed the analysis setting `setting`, from the value `from` to the value `to`.
    case settingChanged = "setting.changed"
    /// A backup is about to be made. `contents` is whether it contains everything or only the record.
    case backedUp = "backup"
    /// This record was restored from a backup, which was made at `made`.
    case backupRestored = "backup.restored"
    /// Counts of an earlier version were wrong and have been corrected; no sample was changed. `hidden` is the number
    /// of deleted samples that were still counted as hidden, `types` the number of types with wrong counts.
    case storeHealed = "store.healed"
    /// Old events were pruned from the log. The remaining events begin after `to`.
    case auditPruned = "audit.pruned"
  }

  /// The time by the machine's clock, which may have been set back since the previous event.
  public var time: Timestamp
  /// The kind of the event, from a fixed list that logs can be searched by.
  public var name: Name
  /// The details: `peer`, `address`, `reason`, `types`, `count`, `from`, `to`, ...
  public var detail: [String: String]

  /// Creates an event.
  ///
  /// - Parameter detail: must contain neither secrets nor sample values. Texts from other machines are stored as they
  ///   are, and escaped when they are displayed.
  public init(_ name: Name, _ detail: [String: String] = [:], time: Timestamp = .now) {
    self.name = name
    self.detail = detail
    self.time = time
  }
}

/// A stored event of the audit log.
public struct AuditRecord: Hashable, Sendable {
  /// The number of the event, or 0 for counted reads that are not in the chain yet.
  public var id: Int64
  /// The time of the event; see ``AuditEvent/time``.
  public var time: Timestamp
  /// The name of the event: a raw value of ``AuditEvent/Name``, or a name that a later version wrote.
  public var event: String
  /// The details of the event; see ``AuditEvent/detail``.
  public var detail: [String: String]

  /// The number of reads that the record stands for, or 1 for any other event.
  public var times: Int { detail[AuditRead.timesKey].flatMap { Int($0) } ?? 1 }
}
