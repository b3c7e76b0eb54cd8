/// What an entry of the journal has beside its line, so that it can be asked for: `journalctl HPEER_PEER=studio`.
/// docs/how-to/service.md lists it. Never a value of a sample, and no secret.
struct EntryFields: Sendable {
  /// What a line is about, as `HPEER_EVENT` has it. Where the audit log has a word for it, it is that one.
  enum Event: String, Sendable {
    case serverStarted = "server.started"
    case serverLocked = "server.locked"
    case serverUnlocked = "server.unlocked"
    case serverAnnounced = "server.announced"
    case serverNotAnnounced = "server.not-announced"
    case processStopped = "process.stopped"
    case settingsRead = "settings.read"
    case settingsRefused = "settings.refused"
    case validityEnding = "validity.ending"

    case windowOpened = "window.opened"
    case windowClosed = "window.closed"
    case windowLocked = "window.locked"
    case pairingSucceeded = "pairing.succeeded"
    case pairingFailed = "pairing.failed"
    case pairingKeptOut = "pairing.kept-out"

    case peerChanges = "peer.changes"
    case peerUpToDate = "peer.up-to-date"
    case peerLost = "peer.lost"
    case peerBack = "peer.back"
    case peerGivenUp = "peer.given-up"
    case peerRenamed = "peer.renamed"
    case peerTwins = "peer.twins"
    case diskFull = "disk.full"

    case inboxStarted = "inbox.started"
    case deliveryFailed = "delivery.failed"
    case deliveryRefused = "delivery.refused"
    case automationFinished = "automation.finished"
    case automationFailed = "automation.failed"
  }

  /// Values by what follows `HPEER_` in their names.
  let values: [String: String]

  static let none = EntryFields(values: [:])

  init(_ event: Event, peer: String? = nil, destination: String? = nil, automation: String? = nil) {
    let all = ["event": event.rawValue, "peer": peer, "destination": destination, "automation": automation]
    values = all.compactMapValues { $0 }
  }

  /// - Parameter values: by names; of a message of a library, perhaps.
  init(values: [String: String]) {
    self.values = values
  }
}
