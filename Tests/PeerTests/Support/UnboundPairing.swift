import PeerClient
import PeerProtocol
import PeerTrust

extension PairingSession {
  /// Pairs without a client certificate.
  func pair(code: PairingCode, clientID: PeerID, name: String) async throws -> PairedServer {
    try await pair(code: code, clientID: clientID, certificate: nil, name: name)
  }
}
