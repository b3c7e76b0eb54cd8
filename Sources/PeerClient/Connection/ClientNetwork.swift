import HealthModel
import HealthStore
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
  /// Sends one request to an app on a phone, over a connection of its own.
  package typealias Exchange =
    @Sendable (
      _ request: AppRequest, _ endpoint: PeerEndpoint, _ trust: CertificateTrust, _ profile: TransportProfile,
      _ silenceLimit: Int
    ) async throws -> AppAnswer
  package var exchange: Exchange = { request, endpoint, trust, profile, silenceLimit in
    try await AppTransport.exchange(request, with: endpoint, trust, profile, silenceLimit: silenceLimit)
  }
  /// Shakes hands with an app on a phone and hangs up. Throws ``PeerError`` unless it shows the certificate.
  package typealias Handshake =
    @Sendable (
      _ endpoint: PeerEndpoint, _ trust: CertificateTrust, _ profile: TransportProfile, _ silenceLimit: Int
    ) async throws -> Fingerprint
  package var shakeHands: Handshake = { endpoint, trust, profile, silenceLimit in
    try await AppTransport.shakeHands(with: endpoint, trust, profile, silenceLimit: silenceLimit)
  }
  /// By which a client pauses and measures, but for the search for a peer and the times of a connection.
  package var clock: any Clock<Duration> = ContinuousClock()
  /// How fast each phone may be asked.
  package var paces = HealthSyncPaces()
  /// The wall clock, for what is kept.
  package var now: @Sendable () -> Timestamp = { .now }

  package init() {}
}
