import Foundation
import NIOHTTP1
import PeerProtocol
import PeerTrust

extension PeerConnection {
  /// What the peer says about whose record it has. One that does not compare persons, being an older version or another
  /// program, and one that has compared as many as it does, knows nothing.
  func compare(_ claim: PersonClaim, with server: ServerRecord) async throws -> PersonAnswer {
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
    case 404, 423: return PersonAnswer(.unknown, mark: nil)
    default: throw failure(status: status, raw: raw)
    }
  }
}
