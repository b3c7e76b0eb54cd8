import PeerProtocol
import PeerTrust

/// A reason why a peer could not be reached or did not serve. Each description is one sentence for a person.
public enum PeerError: Error, Hashable, Sendable {
  /// The TCP connection failed: refused, timed out, or the name has no address.
  case unreachable(endpoint: String, reason: String)
  /// The TLS handshake failed for a reason other than the pin.
  case handshakeFailed(endpoint: String, reason: String)
  /// The peer's certificate differs from the pinned one. No byte of the request was sent.
  case certificateChanged(peer: String, pinned: Fingerprint, seen: Fingerprint)
  /// No byte arrived for this many seconds.
  case silent(endpoint: String, seconds: Int)
  /// Almost no data arrived in this many seconds of waiting.
  case tooSlow(endpoint: String, seconds: Int)
  /// The other side closed the connection before its answer was complete.
  case connectionLost(endpoint: String)
  /// The server at the address is not an hpeer.
  case notHpeer(endpoint: String, detail: String)
  /// The peer no longer accepts this machine's token.
  case tokenRefused(peer: String)
  /// The peer only lets this machine read daily values, not samples.
  case onlyDaily(peer: String)
  /// The server has this machine's own certificate: it is this machine, or one restored from its backup.
  case thisMachine(endpoint: String)
  /// This machine has no token for the peer.
  case notPaired(peer: String)
  /// The server refused a step of pairing.
  case pairing(PairRejection)
  /// The peer knows another code than this machine, or an attacker is between the two machines.
  case confirmationFailed
  /// The peer no longer accepts the change token; the pull starts over.
  case tokenGone
  /// The server is busy (429, 503). The value is the number of seconds to wait, if the server gave one.
  case busy(retryAfter: Int?)
  /// The answer has an unexpected HTTP status or body. The message may come from the server, so treat it as hostile
  /// text.
  case unexpectedAnswer(status: Int, message: String)
  /// The peer's record is of another person than this store's. Confirming the agreement overrides this.
  case anotherPerson(peer: String, PersonAgreement)
  /// The two records may be of different persons, which neither side can determine. Confirming the agreement
  /// overrides this.
  case personUnknown(peer: String, PersonAgreement)
  /// The peer refuses to compare more persons in this pairing.
  case personNotCompared(peer: String)
  /// The server speaks a dialect that this version does not know. Another version of hpeer paired with it.
  case unknownDialect(peer: String, dialect: String)
  /// The phone is locked, or its app asks for a face or a finger first.
  case phoneLocked(peer: String)
  /// The app on the phone could not send some types; all others were read. The names are hpeer's; the reason may come
  /// from the app, so treat it as hostile text.
  case typesUnread(peer: String, types: [String], reason: String)
  /// The owner of the other machine has locked it.
  case machineLocked(peer: String)
  /// The app on the phone refuses the code, which is wrong, used or expired.
  case codeRefused(peer: String, advice: String)
  /// The server speaks no dialect that hpeer knows. No secret was sent.
  case strangeServer(peer: String)
  /// The change feed is malformed or incomplete.
  case feed(ChangeFeedError)
}

extension PeerError {
  /// The kind of a failure, which determines its handling: a retry, another address, a person's action, the exit
  /// status.
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
    /// The peer's certificate differs from the pinned one.
    case certificateChanged
    /// The peer refuses this machine until a person acts.
    case refused
    /// The peer's record is, or may be, of another person.
    case anotherPerson
    /// The phone or machine must be unlocked by its owner.
    case locked
    /// The peer is busy, or asks for a retry.
    case temporary
    /// The peer failed while answering.
    case failing
    /// The peer's answer violates the protocol.
    case malformed

    /// Whether a retry may succeed without a person's action.
    public var mayPass: Bool {
      switch self {
      case .unreachable, .interrupted, .temporary, .failing, .locked: true
      case .certificateChanged, .refused, .anotherPerson, .malformed: false
      }
    }
  }

  /// The category of the error, determined by its case and the status of an unexpected answer.
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

/// Returns a number of seconds for use in sentences: `1 second`, `5 seconds`.
func secondsText(_ count: Int) -> String {
  count == 1 ? "1 second" : "\(count) seconds"
}
