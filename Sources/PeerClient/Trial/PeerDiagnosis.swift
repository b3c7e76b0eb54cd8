import PeerProtocol
import PeerTrust

/// The result of testing a paired machine: the facts needed for a diagnosis.
public struct PeerDiagnosis: Hashable, Sendable {
  /// An address at which the machine was last reached or is announced.
  public struct Address: Hashable, Sendable {
    /// The endpoint that was tried.
    public var endpoint: PeerEndpoint
    /// Whether the address is announced now, under the machine's ID or name.
    public var isAnnounced: Bool
    /// Whether the machine was last reached there or is announced there under its ID. Others may have its name
    /// legitimately.
    public var claimsID: Bool
    /// The result of the handshake.
    public var outcome: Outcome

    /// Creates the result for one address. Only ``PeerDiagnostics`` and tests do this.
    public init(_ endpoint: PeerEndpoint, isAnnounced: Bool, claimsID: Bool = true, _ outcome: Outcome) {
      self.endpoint = endpoint
      self.isAnnounced = isAnnounced
      self.claimsID = claimsID
      self.outcome = outcome
    }
  }

  /// The result of connecting to an address.
  public enum Outcome: Hashable, Sendable {
    /// The TCP connection failed; the value is a short reason.
    case unreachable(String)
    /// The TCP connection succeeded but the TLS handshake failed; the value is a short reason.
    case notTLS(String)
    /// The TLS handshake showed another certificate than the pinned one.
    case otherCertificate(Fingerprint)
    /// The TLS handshake showed the pinned certificate.
    case proven
  }

  /// The machine's answer to this machine's token.
  public enum Verdict: Hashable, Sendable {
    /// The machine accepts the token.
    case accepted
    /// The token is revoked, expired, or bound to another certificate.
    case refused
    /// The machine's owner has locked it; the token is valid.
    case locked
    /// The answer was neither; the value describes it in a sentence.
    case unclear(String)
    /// The token was not sent because this machine has no certificate to show.
    case untried
  }

  /// The machine's view of its pairing with this one.
  public enum OtherEnd: Hashable, Sendable {
    /// The view; every text in it is hostile.
    case said(PairingView)
    /// The machine runs an older hpeer that does not support this.
    case older
    /// The answer was something else; the value describes it in a sentence.
    case unclear(String)
  }

  /// The answers of the machine.
  public struct Statement: Hashable, Sendable {
    /// The machine's own name; treat it as hostile text.
    public var name: String
    /// The version that the machine reports; treat it as hostile text.
    public var version: String
    /// The number of seconds by which its clock is ahead of this machine's; `nil` if it did not report its time.
    public var clockLead: Double?
    /// The machine's verdict on this machine's token.
    public var token: Verdict
    /// The machine's view of the pairing; `nil` if it was not requested or the machine refuses the token.
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

  /// The addresses that were tried, announced ones first.
  public var addresses: [Address]
  /// The reason why announcements could not be received; `nil` if they could.
  public var deafness: String?
  /// The answer of the machine; `nil` if no address is the machine's.
  public var answer: Result<Statement, PeerError>?

  /// Creates a result. Only ``PeerDiagnostics`` and tests do this.
  public init(addresses: [Address], deafness: String? = nil, answer: Result<Statement, PeerError>? = nil) {
    self.addresses = addresses
    self.deafness = deafness
    self.answer = answer
  }
}
