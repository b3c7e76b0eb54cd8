import PeerProtocol
import PeerTrust

/// What came of trying a paired machine: the facts, for whoever looks for what is wrong.
public struct PeerTrial: Hashable, Sendable {
  /// A place where the machine was last, or is said to be.
  public struct Address: Hashable, Sendable {
    /// Where it was tried.
    public var endpoint: PeerEndpoint
    /// Whether it is announced now, under the machine's id or name.
    public var isAnnounced: Bool
    /// Whether it is where the machine was last, or announced under its id; others may have its name in good faith.
    public var claimsID: Bool
    /// How far the handshake came.
    public var outcome: Outcome

    /// Made by ``PeerTester``, and by tests of what reads it.
    public init(_ endpoint: PeerEndpoint, isAnnounced: Bool, claimsID: Bool = true, _ outcome: Outcome) {
      self.endpoint = endpoint
      self.isAnnounced = isAnnounced
      self.claimsID = claimsID
      self.outcome = outcome
    }
  }

  /// What listens at an address.
  public enum Outcome: Hashable, Sendable {
    /// No TCP connection; why, in a few words.
    case unreachable(String)
    /// A TCP connection, and no TLS handshake over it; why, in a few words.
    case notTLS(String)
    /// A TLS handshake with another certificate than the pinned one.
    case otherCertificate(Fingerprint)
    /// A TLS handshake with the pinned certificate.
    case proven
  }

  /// What the machine makes of our token.
  public enum Verdict: Hashable, Sendable {
    /// The token is valid there.
    case accepted
    /// Revoked, expired, or bound to another certificate.
    case refused
    /// The machine's owner has locked it; the token is valid.
    case locked
    /// It answered neither way; what it said, in a sentence.
    case unclear(String)
    /// This machine has no certificate to show.
    case untried
  }

  /// What the machine says of its pairing with this one.
  public enum OtherEnd: Hashable, Sendable {
    /// Every text of it is hostile.
    case said(PairingView)
    /// It is an older hpeer, which cannot say.
    case older
    /// It answered with something else; what, in a sentence.
    case unclear(String)
  }

  /// What the machine said.
  public struct Statement: Hashable, Sendable {
    /// What the machine calls itself: hostile text.
    public var name: String
    /// The version that the machine says its program has: hostile text.
    public var version: String
    /// Seconds that its clock is ahead of ours; `nil` if it did not say.
    public var clockLead: Double?
    /// Whether it still lets this machine in.
    public var token: Verdict
    /// `nil` where it was not asked: it does not let this machine in, or that was not wanted.
    public var otherEnd: OtherEnd?

    /// - Parameter name: hostile text, not escaped here.
    public init(name: String, version: String, clockLead: Double?, token: Verdict, otherEnd: OtherEnd? = nil) {
      self.name = name
      self.version = version
      self.clockLead = clockLead
      self.token = token
      self.otherEnd = otherEnd
    }
  }

  /// Announced ones first.
  public var addresses: [Address]
  /// Why nobody could be asked for announcements; `nil` if somebody could.
  public var deafness: String?
  /// `nil` if no address is the machine's.
  public var answer: Result<Statement, PeerError>?

  /// Made by ``PeerTester``, and by tests of what reads it.
  public init(addresses: [Address], deafness: String? = nil, answer: Result<Statement, PeerError>? = nil) {
    self.addresses = addresses
    self.deafness = deafness
    self.answer = answer
  }
}
