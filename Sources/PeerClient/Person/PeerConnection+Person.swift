import Foundation
import NIOHTTP1
import PeerProtocol
import PeerTrust

extension PeerConnection {
  /// What the peer says about whose record it has. One that does not compare persons, being an older version or another
  /// program, knows nothing.
  ///
  /// - Returns: `nil` from one that could, and has compared as many for this pairing as it does.
  func compare(_ claim: PersonClaim, with server: ServerRecord) async throws -> PersonAnswer? {
    let (status, answer, raw) = try await exchange(
      .POST, Route.person, headers: [("Authorization", "Bearer \(server.credential.text)")], body: claim,
      as: Envelope<PersonAnswer>.self)
    switch status {
    case 200:
      guard let answer = answer?.data else {
        throw PeerError.unexpectedAnswer(status: 200, message: "something else than whose record it is")
      }
      return answer
    case 401: throw PeerError.tokenRefused(peer: server.name)
    case 404: return PersonAnswer(.unknown, mark: nil)
    case 423: return nil
    default: throw failure(status: status, raw: raw)
    }
  }
}
