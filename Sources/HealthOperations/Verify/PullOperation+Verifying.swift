import PeerClient
import PeerTrust

extension PullOperation {
  /// How often a server that goes on changing is pulled from and compared with.
  private static let maximumRounds = 3

  /// Pulls, compares, and pulls again while that brings what the other machine got in between.
  ///
  /// Throws what ``run(from:at:)`` and ``VerifyOperation/run(with:at:)`` do.
  public func run(
    from server: ServerRecord, at endpoints: [PeerEndpoint], comparingBy verify: VerifyOperation
  ) async throws -> (PullResult, Verification) {
    var result = try await run(from: server, at: endpoints)
    var verification = try await verify.run(with: server, at: endpoints)
    var rounds = 1
    while !verification.isEqual, rounds < Self.maximumRounds {
      let more = try await run(from: server, at: endpoints)
      guard more.done.added + more.done.deleted > 0 else { break }
      result.append(more)
      verification = try await verify.run(with: server, at: endpoints)
      rounds += 1
    }
    return (result, verification)
  }
}
