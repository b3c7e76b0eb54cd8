import PeerProtocol

/// A server's answers to requests without a token or code, which identify its dialect.
///
/// Each path is requested once, regardless of how many dialects need it.
public actor ServerProbe {
  /// The number of seconds without a byte after which a server is considered gone.
  private static let silence = 5
  /// The profile of the least demanding dialect, because the server's dialect is not known yet.
  private static let profile = TransportProfile(leastTLS: .tls12)

  /// The server's endpoint.
  public let endpoint: PeerEndpoint
  private let trust: CertificateTrust
  private var answers: [String: AppAnswer] = [:]

  /// - Parameter trust: the accepted certificates. With a pin, nothing is sent to any other server.
  public init(_ endpoint: PeerEndpoint, trust: CertificateTrust) {
    (self.endpoint, self.trust) = (endpoint, trust)
  }

  /// Returns the answer to a `GET` that contains no secret. Throws ``PeerError``.
  func answer(to path: String) async throws -> AppAnswer {
    if let answer = answers[path] { return answer }
    let answer = try await ClientNetwork.current.exchange(
      AppRequest(.get, path), endpoint, trust, Self.profile, Self.silence)
    answers[path] = answer
    return answer
  }
}
