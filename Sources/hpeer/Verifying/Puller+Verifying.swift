import PeerClient
import PeerTrust

extension Puller {
  /// How often a server that goes on changing is pulled from and compared with.
  private static let maximumRounds = 3

  /// Compares, and pulls again while that brings what the other machine got in between.
  func pull(_ pulled: PullPresentation, endpoints: [PeerEndpoint], until verifier: Verifier) async throws {
    var pulled = pulled
    var verification = try await verifier.verify(pulled.server, endpoints: endpoints)
    var rounds = 1
    while !verification.isEqual, rounds < Self.maximumRounds {
      let more = try await fetch(pulled.server, endpoints: endpoints)
      guard more.done.added + more.done.deleted > 0 else { break }
      pulled.append(more)
      verification = try await verifier.verify(pulled.server, endpoints: endpoints)
      rounds += 1
    }
    let presentation = VerifyPresentation(server: pulled.server, verification: verification)
    pulled.verification = presentation.report
    try pulled.print(json: json)
    if !json { try presentation.print() }
    try presentation.requireEqual()
  }
}
