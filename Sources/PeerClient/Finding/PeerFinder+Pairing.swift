extension PeerFinder {
  /// The maximum number of endpoints tried: as many as one machine may have, to limit what others can add.
  private static let maximumEndpoints = 16
  /// The head start of each endpoint before the next is tried as well (RFC 8305 section 5).
  private static let headStart = Duration.milliseconds(250)

  /// Returns the first endpoint at which an hpeer with pairing support answers. Endpoints are tried concurrently, so
  /// that one that hangs does not delay the rest. Throws the ``PeerError`` of the first endpoint if none answers.
  public static func firstAnswering(
    _ endpoints: [PeerEndpoint], clock: any Clock<Duration> = ContinuousClock()
  ) async throws -> PeerEndpoint {
    try await withThrowingTaskGroup(of: (Int, Result<PeerEndpoint, PeerError>).self) { group in
      for (index, endpoint) in endpoints.prefix(maximumEndpoints).enumerated() {
        group.addTask {
          try await clock.sleep(for: headStart * index)
          do {
            _ = try await PairingSession.open(at: endpoint)
            return (index, .success(endpoint))
          } catch let error as PeerError {
            return (index, .failure(error))
          }
        }
      }
      defer { group.cancelAll() }
      var failures: [Int: PeerError] = [:]
      for try await (index, result) in group {
        switch result {
        case .success(let endpoint): return endpoint
        case .failure(let error): failures[index] = error
        }
      }
      throw failures.min { $0.key < $1.key }?.value
        ?? PeerError.unreachable(endpoint: "the other machine", reason: "no address is known")
    }
  }
}
