import HealthModel

/// The content of the answer to `GET /api/v2/pairing`: what a server knows about its pairing with the caller. It
/// contains nothing about other machines or about the record (`docs/protocol/pairing.md`).
public struct PairingView: Codable, Hashable, Sendable {
  /// The numeric address from which the server received the request.
  public var address: String
  /// The samples that the caller may read; an empty filter allows all.
  public var scope: SampleFilter
  /// Whether the caller may only read values of whole days within the scope.
  public var onlyDaily: Bool
  /// The time of the token's previous use, at most a minute late, or `nil` for the first.
  public var lastSeen: WireInstant?
  /// The time at which the token expires unless it is used.
  public var expires: WireInstant
  /// Whether the server refuses large uploads because its disk is nearly full.
  public var lowSpace: Bool
  /// The state of the server's pulls from the caller, or `nil` if the server does not pull from it.
  public var following: Following?

  /// The reverse direction, in which the server pulls from the caller.
  public struct Following: Codable, Hashable, Sendable {
    /// The address `host:port` at which the server last reached the caller, or `nil` if it never did.
    public var endpoint: String?
    /// The result of trying to connect to it now.
    public var outcome: Outcome

    /// - Parameter endpoint: the address in the server's own list, never one that the caller just sent.
    public init(endpoint: String?, outcome: Outcome) {
      (self.endpoint, self.outcome) = (endpoint, outcome)
    }
  }

  /// The result of connecting to the address at which the server last reached the caller.
  public enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
    /// The caller answered, with the certificate that was paired.
    case reached
    /// The TCP connection failed.
    case unreachable
    /// The other end does not speak TLS.
    case notTLS
    /// The other end has another certificate.
    case otherCertificate
    /// The server did not try: no address is known, or another attempt is running.
    case untried
  }

  /// - Parameter address: the numeric address that the socket reports.
  public init(
    address: String, scope: SampleFilter, onlyDaily: Bool, lastSeen: WireInstant?, expires: WireInstant,
    lowSpace: Bool, following: Following?
  ) {
    (self.address, self.scope, self.onlyDaily) = (address, scope, onlyDaily)
    (self.lastSeen, self.expires, self.lowSpace, self.following) = (lastSeen, expires, lowSpace, following)
  }

  /// The maximum bytes of an address with its interface, and of a host name with its port.
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
    // The texts are printed on one line.
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
