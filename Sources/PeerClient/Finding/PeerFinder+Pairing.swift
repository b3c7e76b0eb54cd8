extension PeerFinder {
  /// As many as one machine may have, and no more of what somebody else may add.
  private static let maximumEndpoints = 16
  /// What one has before the next is tried as well (RFC 8305 section 5).
  private static let headStart = Duration.milliseconds(250)

  /// Where an hpeer answers that can be paired with: the first in time, so that one that hangs does not hold up the rest.
  /// Throws the ``PeerError`` of the first endpoint if none does.
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
