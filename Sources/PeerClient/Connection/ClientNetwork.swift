import HealthModel
import HealthStore
import NIOCore
import PeerProtocol
import PeerTrust

/// The network dependencies of a client: how it connects, its clocks, and its limits on other machines. Tests replace
/// them for their tasks.
package struct ClientNetwork: Sendable {
  @TaskLocal package static var current = ClientNetwork()

  /// A function that connects to an endpoint and returns an HTTP channel and the server's fingerprint.
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
  /// A function that sends one request to an app on a phone, over a connection of its own.
  package typealias Exchange =
    @Sendable (
      _ request: AppRequest, _ endpoint: PeerEndpoint, _ trust: CertificateTrust, _ profile: TransportProfile,
      _ silenceLimit: Int
    ) async throws -> AppAnswer
  package var exchange: Exchange = { request, endpoint, trust, profile, silenceLimit in
    try await AppTransport.exchange(request, with: endpoint, trust, profile, silenceLimit: silenceLimit)
  }
  /// A function that performs a TLS handshake with an app on a phone and disconnects. It throws ``PeerError`` unless
  /// the app shows the expected certificate.
  package typealias Handshake =
    @Sendable (
      _ endpoint: PeerEndpoint, _ trust: CertificateTrust, _ profile: TransportProfile, _ silenceLimit: Int
    ) async throws -> Fingerprint
  package var shakeHands: Handshake = { endpoint, trust, profile, silenceLimit in
    try await AppTransport.shakeHands(with: endpoint, trust, profile, silenceLimit: silenceLimit)
  }
  /// The clock for pauses and measurements, except the search for a peer and the time limits of a connection.
  package var clock: any Clock<Duration> = ContinuousClock()
  /// The request rates of the phones.
  package var paces = HealthSyncPaces()
  /// Returns the current wall-clock time, for stored values.
  package var now: @Sendable () -> Timestamp = { .now }

  package init() {}
}
