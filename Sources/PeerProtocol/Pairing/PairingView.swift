import HealthModel

/// `data` of the answer to `GET /api/v2/pairing`: what a server knows of its pairing with the caller, and sees of it.
/// Nothing of other machines, and nothing of the record (`docs/protocol/pairing.md`).
public struct PairingView: Codable, Hashable, Sendable {
  /// Where the request came from, as the server sees it: a numeric address.
  public var address: String
  /// What the caller may read; empty for everything.
  public var scope: SampleFilter
  /// It may ask for numbers of whole days within that scope, and for nothing finer.
  public var onlyDaily: Bool
  /// The use of the token before this one, at most a minute late; `nil` for the first.
  public var lastSeen: WireInstant?
  /// When the token dies unless it is used.
  public var expires: WireInstant
  /// So little room is left on the server's disk that it takes in nothing large.
  public var lowSpace: Bool
  /// `nil` where the server does not pull from the caller.
  public var following: Following?

  /// The way back: the server pulls from the caller, too.
  public struct Following: Codable, Hashable, Sendable {
    /// Where the server last reached the caller, `host:port`; `nil` where it never has.
    public var endpoint: String?
    /// What came of trying that now.
    public var outcome: Outcome

    /// - Parameter endpoint: what the server has in its list, and nothing that the caller has just said.
    public init(endpoint: String?, outcome: Outcome) {
      (self.endpoint, self.outcome) = (endpoint, outcome)
    }
  }

  /// What listens where the server last reached the caller.
  public enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
    /// The caller, with the certificate that was paired with.
    case reached
    /// Nothing: no TCP connection.
    case unreachable
    /// Something that shakes no hands (TLS).
    case notTLS
    /// Something with another certificate.
    case otherCertificate
    /// It was not tried: no address is known, or it is being tried already.
    case untried
  }

  /// - Parameter address: numeric, as the socket has it.
  public init(
    address: String, scope: SampleFilter, onlyDaily: Bool, lastSeen: WireInstant?, expires: WireInstant,
    lowSpace: Bool, following: Following?
  ) {
    (self.address, self.scope, self.onlyDaily) = (address, scope, onlyDaily)
    (self.lastSeen, self.expires, self.lowSpace, self.following) = (lastSeen, expires, lowSpace, following)
  }

  /// Bytes of an address with its interface, and of a host name with its port.
  private static let maximumBytes = (address: 64, endpoint: 320)

  private enum CodingKeys: String, CodingKey {
    case address, scope, onlyDaily, lastSeen, expires, lowSpace, following
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    address = try container.decode(String.self, forKey: .address)
    scope = try container.decode(SampleFilter.self, forKey: .scope)
    onlyDaily = try container.decode(Bool.self, forKey: .onlyDaily)
    lastSeen = try container.decodeIfPresent(WireInstant.self, forKey: .lastSeen)
    expires = try container.decode(WireInstant.self, forKey: .expires)
    lowSpace = try container.decode(Bool.self, forKey: .lowSpace)
    following = try container.decodeIfPresent(Following.self, forKey: .following)
    // They go into a line of text.
    guard Self.isPlain(address, upTo: Self.maximumBytes.address),
      following?.endpoint.map({ Self.isPlain($0, upTo: Self.maximumBytes.endpoint) }) ?? true
    else {
      throw DecodingError.dataCorrupted(.init(codingPath: container.codingPath, debugDescription: "no address"))
    }
  }

  private static func isPlain(_ text: String, upTo limit: Int) -> Bool {
    (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }
}
