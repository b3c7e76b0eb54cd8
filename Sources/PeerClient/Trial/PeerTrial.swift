import PeerProtocol
import PeerTrust

/// What came of trying a paired machine: the facts, for whoever looks for what is wrong.
public struct PeerTrial: Hashable, Sendable {
  /// A place where the machine was last, or is said to be.
  public struct Address: Hashable, Sendable {
    public var endpoint: PeerEndpoint
    /// Whether it is announced now, under the machine's id or name.
    public var isAnnounced: Bool
    /// Whether it is where the machine was last, or announced under its id; others may have its name in good faith.
    public var claimsID: Bool
    public var outcome: Outcome

    public init(_ endpoint: PeerEndpoint, isAnnounced: Bool, claimsID: Bool = true, _ outcome: Outcome) {
      self.endpoint = endpoint
      self.isAnnounced = isAnnounced
      self.claimsID = claimsID
      self.outcome = outcome
    }
  }

  public enum Outcome: Hashable, Sendable {
    /// Nothing took the connection; why, in a few words.
    case unreachable(String)
    /// Something did, but no TLS came about.
    case notTLS(String)
    /// Something with another certificate.
    case otherCertificate(Fingerprint)
    /// The machine, by its certificate.
    case proven
  }

  public enum Verdict: Hashable, Sendable {
    case accepted
    /// Revoked, expired, or bound to another certificate.
    case refused
    case unclear(String)
    /// This machine has no certificate to show.
    case untried
  }

  /// What the machine said.
  public struct Statement: Hashable, Sendable {
    /// Its own words.
    public var name: String
    public var version: String
    /// Seconds that its clock is ahead of ours; `nil` if it did not say.
    public var clockLead: Double?
    public var token: Verdict

    public init(name: String, version: String, clockLead: Double?, token: Verdict) {
      self.name = name
      self.version = version
      self.clockLead = clockLead
      self.token = token
    }
  }

  /// Announced ones first.
  public var addresses: [Address]
  /// Why nobody could be asked for announcements; `nil` if somebody could.
  public var deafness: String?
  /// `nil` if no address is the machine's.
  public var answer: Result<Statement, PeerError>?

  public init(addresses: [Address], deafness: String? = nil, answer: Result<Statement, PeerError>? = nil) {
    self.addresses = addresses
    self.deafness = deafness
    self.answer = answer
  }
}
