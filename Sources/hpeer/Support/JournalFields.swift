/// The fields of a journal entry beside its line, for queries such as `journalctl HPEER_PEER=studio`.
/// docs/how-to/service.md lists them. They never hold a sample's value or a secret.
struct JournalFields: Sendable {
  /// The event that a line is about, the value of `HPEER_EVENT`. If the audit log has a word for it, it is the same.
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

  /// The values, by field name without `HPEER_`.
  let values: [String: String]

  static let none = JournalFields(values: [:])

  init(_ event: Event, peer: String? = nil, destination: String? = nil, automation: String? = nil) {
    let all = ["event": event.rawValue, "peer": peer, "destination": destination, "automation": automation]
    values = all.compactMapValues { $0 }
  }

  /// Creates fields, for example for a message of a library.
  ///
  /// - Parameter values: The values, by name.
  init(values: [String: String]) {
    self.values = values
  }
}
