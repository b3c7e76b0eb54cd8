import PeerProtocol

/// What a server says to anybody who asks, without a token or a code: by that its dialect is told.
///
/// Each path is asked for once, however many dialects want to know.
public actor PeerGreeting {
  /// Seconds without a byte after which a server counts as gone.
  private static let silence = 5
  /// Of the least demanding dialect: which floor holds is known only when the dialect is.
  private static let profile = TransportProfile(leastTLS: .tls12)

  /// What is asked.
  public let endpoint: PeerEndpoint
  private let trust: CertificateTrust
  private var answers: [String: AppAnswer] = [:]

  /// - Parameter trust: what is accepted of the server; with a pin nothing is sent to any other.
  public init(_ endpoint: PeerEndpoint, trust: CertificateTrust) {
    (self.endpoint, self.trust) = (endpoint, trust)
  }

  /// The answer to a `GET` without anything secret. Throws ``PeerError``.
  func answer(to path: String) async throws -> AppAnswer {
    if let answer = answers[path] { return answer }
    let answer = try await ClientNetwork.current.exchange(
      AppRequest(.get, path), endpoint, trust, Self.profile, Self.silence)
    answers[path] = answer
    return answer
  }
}
