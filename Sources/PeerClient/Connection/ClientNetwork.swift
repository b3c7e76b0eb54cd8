import NIOCore
import PeerProtocol
import PeerTrust

/// How a client reaches other machines, how it waits, and what it lets them take. Tests put their own in its place, for
/// the tasks that they run.
package struct ClientNetwork: Sendable {
  @TaskLocal package static var current = ClientNetwork()

  /// A channel to the endpoint over which HTTP can be spoken, and the certificate that was seen there.
  package typealias Connector =
    @Sendable (
      _ endpoint: PeerEndpoint, _ trust: CertificateTrust, _ identity: PeerIdentity?, _ silenceLimit: Int,
      _ handshakeLimit: Duration?
    ) async throws -> (PeerConnection.HTTPChannel, Fingerprint)

  package var limits = ClientLimits()
  package var connect: Connector = { endpoint, trust, identity, silenceLimit, handshakeLimit in
    try await PeerConnection.connect(
      to: endpoint, trust: trust, identity: identity, silenceLimit: silenceLimit, handshakeLimit: handshakeLimit)
  }
  /// By which a client pauses and measures, but for the search for a peer and the times of a connection.
  package var clock: any Clock<Duration> = ContinuousClock()

  package init() {}
}
