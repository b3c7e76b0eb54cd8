import Foundation
import HealthModel
import PeerProtocol
import PeerTrust

extension PeerConnection {
  /// Returns the peer's view of its pairing with this machine, or `nil` if the peer refuses the token or is locked.
  func otherEnd(of server: ServerRecord) async throws -> PeerDiagnosis.OtherEnd? {
    let head = try await send(
      .GET, Route.pairing, headers: [("Authorization", "Bearer \(server.credential.text)")])
    let raw = try await body(limit: limits.pairingView.bytes)
    switch head.status.code {
    case 200:
      guard raw.withUnsafeBytes({ limits.pairingView.verdict(on: $0) }) == .fits,
        let view = (try? JSONDecoder().decode(Envelope<PairingView>.self, from: raw))?.data
      else { return .unclear("it said something else than what it knows of the pairing") }
      return .said(view)
    case 401, 423: return nil
    // Older versions support only DELETE for this path.
    case 404, 405: return .older
    default: return .unclear("\(failure(status: Int(head.status.code), raw: raw))")
    }
  }
}
