import PeerProtocol
import PeerTrust

/// Why a peer could not be reached or would not serve. Each description is one sentence for a person.
public enum PeerError: Error, Hashable, Sendable {
  /// No TCP connection: refused, timed out, or a name without an address.
  case unreachable(endpoint: String, reason: String)
  /// The TLS handshake failed for another reason than the pin.
  case handshakeFailed(endpoint: String, reason: String)
  /// Another certificate than the pinned one: refused before a byte of the request was sent.
  case certificateChanged(peer: String, pinned: Fingerprint, seen: Fingerprint)
  /// Nothing arrived for this many seconds.
  case silent(endpoint: String, seconds: Int)
  /// Next to nothing arrived in this many seconds of waiting.
  case tooSlow(endpoint: String, seconds: Int)
  /// The other side closed the connection before its answer was whole.
  case connectionLost(endpoint: String)
  /// Something answers there, but not an hpeer.
  case notHpeer(endpoint: String, detail: String)
  /// The peer does not accept our token any more.
  case tokenRefused(peer: String)
  /// The peer lets this machine ask for numbers of days, and for nothing finer.
  case onlyDaily(peer: String)
  /// What answers shows this machine's own certificate: it is this machine, or one that was restored from its backup.
  case thisMachine(endpoint: String)
  /// We hold no token for this peer.
  case notPaired(peer: String)
  /// The server refused a step of pairing.
  case pairing(PairRejection)
  /// The peer proved to know another code than we do, or sits between us and the real one.
  case confirmationFailed
  /// The peer's change token is not valid any more; the pull starts over.
  case tokenGone
  /// The server asks for another time (429, 503); seconds, where it says them.
  case busy(retryAfter: Int?)
  /// An HTTP status that the request has no meaning for, or a body that is not the answer's. The message may be the
  /// server's: hostile text.
  case unexpectedAnswer(status: Int, message: String)
  /// The peer's record is of another person than ours; to go on all the same is to agree on this.
  case anotherPerson(peer: String, PersonAgreement)
  /// Nobody can say whether both records are of one person; likewise.
  case personUnknown(peer: String, PersonAgreement)
  /// The peer does not compare any more persons with this pairing.
  case personNotCompared(peer: String)
  /// The server was paired with by a version of hpeer that speaks more dialects.
  case unknownDialect(peer: String, dialect: String)
  /// The phone is locked, or its app asks for a face or a finger first.
  case phoneLocked(peer: String)
  /// The app on the phone could not send some types; all others are here. The names are hpeer's, the reason may be the
  /// app's: hostile text.
  case typesUnread(peer: String, types: [String], reason: String)
  /// The owner of the other machine has locked it.
  case machineLocked(peer: String)
  /// The app on the phone does not accept the code: it is wrong, used, or over.
  case codeRefused(peer: String, advice: String)
  /// What answers is a server of a kind that hpeer does not speak with: nothing secret was sent.
  case strangeServer(peer: String)
  /// The change feed is not one, or broke off.
  case feed(ChangeFeedError)
}

extension PeerError {
  /// The kind of failure, which decides how it is handled: retry, another address, a person's action, the exit status.
  ///
  /// ```swift
  /// func retry<Result>(_ attempt: () async throws -> Result) async throws -> Result {
  ///   do {
  ///     return try await attempt()
  ///   } catch let error as PeerError where error.category.mayPass {
  ///     try await Task.sleep(for: .seconds(5))
  ///     return try await attempt()
  ///   }
  /// }
  /// ```
  public enum Category: Hashable, Sendable {
    /// No hpeer answered at the address.
    case unreachable
    /// The connection broke, or stalled, after it had been established.
    case interrupted
    /// Another certificate than the pinned one.
    case certificateChanged
    /// The peer does not let this machine in: its owner must act.
    case refused
    /// The peer's record is, or may be, of another person.
    case anotherPerson
    /// The phone must be unlocked by its owner.
    case locked
    /// The peer is busy, or asks to be called again.
    case temporary
    /// The peer failed while it answered.
    case failing
    /// What the peer says is not of the protocol.
    case malformed

    /// Whether a retry may succeed without anybody's doing.
    public var mayPass: Bool {
      switch self {
      case .unreachable, .interrupted, .temporary, .failing, .locked: true
      case .certificateChanged, .refused, .anotherPerson, .malformed: false
      }
    }
  }

  /// Follows from the case alone, but for the status of an unexpected answer.
  public var category: Category {
    switch self {
    case .unreachable, .handshakeFailed, .notHpeer: .unreachable
    case .silent, .tooSlow, .connectionLost: .interrupted
    case .certificateChanged: .certificateChanged
    case .pairing(.tooManySessions), .pairing(.temporary), .busy, .tokenGone: .temporary
    case .pairing, .tokenRefused, .onlyDaily, .thisMachine, .notPaired, .confirmationFailed, .codeRefused: .refused
    case .phoneLocked, .machineLocked: .locked
    case .anotherPerson, .personUnknown, .personNotCompared: .anotherPerson
    case .feed(.cutOff), .feed(.server), .typesUnread: .failing
    case .unexpectedAnswer(let status, _) where status >= 500: .failing
    case .feed, .unexpectedAnswer, .unknownDialect, .strangeServer: .malformed
    }
  }
}

extension PeerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unreachable(let endpoint, let reason):
      "Nothing could be reached at \(endpoint) (\(reason)): \(UnreachableReason.advice(reason))."
    case .handshakeFailed(let endpoint, let reason):
      "No secure connection with \(endpoint) came about (\(reason)): try again, and check that it is hpeer that listens on that port."
    case .certificateChanged(let peer, let pinned, let seen):
      """
      STOP: \(peer) shows another certificate than the one you paired with, so nothing was sent. Someone on the network may be \
      posing as it. Ask its owner, in person or by phone, what `hpeer identity` prints there: only if that is what is shown \
      now, and they made it new on purpose, run `hpeer unpair \(peer)` and pair again.
        paired with: \(pinned.grouped)
        shown now:   \(seen.grouped)
      """
    case .silent(let endpoint, let seconds):
      "\(endpoint) has said nothing for \(secondsText(seconds)): check the network, then run the same command again; it goes on where it stopped."
    case .tooSlow(let endpoint, let seconds):
      "\(endpoint) has sent next to nothing for \(secondsText(seconds)): check the network, then run the same command again; it goes on where it stopped."
    case .connectionLost(let endpoint):
      "The connection to \(endpoint) was lost: run the same command again; it goes on where it stopped."
    case .notHpeer(let endpoint, let detail):
      "What listens at \(endpoint) is not an hpeer (\(detail))."
    case .onlyDaily(let peer):
      "\(peer) gives this machine numbers of whole days only (GET /api/v2/statistics), and no samples: its owner may change that there with `hpeer peers set NAME --no-only-daily`."
    case .thisMachine(let endpoint):
      "What answers at \(endpoint) is this machine itself, or one that was restored from its backup and has its identity: name the other machine, or restore there with --new-identity."
    case .tokenRefused(let peer):
      "\(peer) does not accept this machine any more (revoked or expired): pair again with `hpeer pair \(peer)`."
    case .notPaired(let peer):
      "This machine is not paired with \(peer) yet: run `hpeer pair \(peer)`."
    case .pairing(let rejection):
      "\(rejection)"
    case .confirmationFailed:
      "The other machine could not prove that it knows the code: someone may be in between. Nothing was stored; ask for a new code and try again."
    case .tokenGone:
      "The other machine cannot continue from where this one stopped: start over with `hpeer pull --full`."
    case .busy(let seconds):
      "The other machine is busy: try again\(seconds.map { " in \(secondsText($0))" } ?? " in a moment")."
    case .unexpectedAnswer(let status, let message):
      "The other machine answered \(status): \(message)."
    case .anotherPerson(let peer, _):
      "\(peer) holds the record of another person than this machine (the date of birth, the sex or the blood type differs), so nothing is fetched from it: if both are one person, because that was corrected on one of them, give --merge-person once; else pull into a store of its own with --home DIR."
    case .personUnknown(let peer, _):
      "Whether \(peer) holds the record of the same person as this machine cannot be told, as one of them knows no date of birth, so nothing is fetched from it: if it does, give --merge-person once; else pull into a store of its own with --home DIR."
    case .personNotCompared(let peer):
      "\(peer) has compared as many different persons for this pairing as it does, and will not say whether it holds the record of the same person as this machine, so nothing is fetched from it: pair again with `hpeer pair \(peer)`."
    case .unknownDialect(let peer, let dialect):
      "\(peer) is of a kind that this version of hpeer does not know (\(dialect)): use the version that paired with it, or a newer one."
    case .phoneLocked(let peer):
      "\(peer) is locked: unlock the phone, keep the app open, and run the same command again; it goes on where it stopped."
    case .typesUnread(let peer, let types, let reason):
      "\(peer) could not send \(types.joined(separator: ", ")) (\(reason)): all other types are here, and the next pull tries \(types.count == 1 ? "it" : "them") again."
    case .machineLocked(let peer):
      "\(peer) is locked: its owner unlocks it there with `hpeer unlock`; nothing is lost, and the same command goes on then."
    case .codeRefused(let peer, let advice):
      "\(peer) does not accept this code, which is wrong, was used, or is more than five minutes old: \(advice)."
    case .strangeServer(let peer):
      "\(peer) speaks a protocol that hpeer does not know, so nothing was sent to it: update hpeer, or the app there."
    case .feed(let error):
      "\(error)"
    }
  }
}

/// `1 second`, `5 seconds`: for sentences.
func secondsText(_ count: Int) -> String {
  count == 1 ? "1 second" : "\(count) seconds"
}
