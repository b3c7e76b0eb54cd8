import NIOCore
import NIOSSL
import PeerProtocol

/// The TLS requirements of a dialect's servers.
public struct TransportProfile: Hashable, Sendable {
  /// The minimum TLS version that is accepted from such servers.
  public enum LeastTLS: Hashable, Sendable {
    case tls12, tls13
  }

  /// The minimum TLS version. Higher versions are preferred.
  public var leastTLS: LeastTLS

  /// - Parameter leastTLS: see ``leastTLS-swift.property``.
  public init(leastTLS: LeastTLS) { self.leastTLS = leastTLS }

  fileprivate var configuration: TLSConfiguration {
    PeerConnection.pinnedConfiguration(minimum: leastTLS == .tls12 ? .tlsv12 : .tlsv13)
  }
}

/// Connections to apps on phones. Each carries one request and one answer. No client certificate is shown and no
/// protocol negotiated, and an end without close_notify is accepted.
enum AppTransport {
  /// Sends one request over a connection of its own, and returns the answer. The certificate is checked against
  /// `trust` before a byte is sent.
  ///
  /// Throws ``PeerError``.
  static func exchange(
    _ request: AppRequest, with endpoint: PeerEndpoint, _ trust: CertificateTrust, _ profile: TransportProfile,
    silenceLimit: Int
  ) async throws -> AppAnswer {
    let limits = ClientNetwork.current.limits
    let (channel, _) = try await open(
      endpoint, trust, profile, silenceLimit: silenceLimit, handshakeLimit: .seconds(Int64(silenceLimit)))
    do {
      return try await channel.executeThenClose { inbound, outbound in
        try await outbound.write(ByteBuffer(bytes: request.bytes(to: endpoint)))
        var reader = AppAnswerReader(limits)
        do {
          for try await part in inbound {
            if let answer = try reader.receive(part.readableBytesView) { return answer }
          }
        } catch NIOSSLError.uncleanShutdown {
          // The connection has ended; the answer's length tells whether it is complete.
        }
        return try reader.end()
      }
    } catch {
      try Task.checkCancellation()
      throw describe(error, of: endpoint, trust, silenceLimit: silenceLimit)
    }
  }

  /// Performs a TLS handshake and disconnects, which reveals nothing. Throws ``PeerError`` unless the server shows
  /// the expected certificate.
  static func shakeHands(
    with endpoint: PeerEndpoint, _ trust: CertificateTrust, _ profile: TransportProfile, silenceLimit: Int,
    handshakeLimit: Duration? = nil
  ) async throws -> Fingerprint {
    let (channel, fingerprint) = try await open(
      endpoint, trust, profile, silenceLimit: silenceLimit, handshakeLimit: handshakeLimit)
    try? await channel.executeThenClose { _, _ in }
    return fingerprint
  }

  private static func open(
    _ endpoint: PeerEndpoint, _ trust: CertificateTrust, _ profile: TransportProfile, silenceLimit: Int,
    handshakeLimit: Duration?
  ) async throws -> (NIOAsyncChannel<ByteBuffer, ByteBuffer>, Fingerprint) {
    let leastBytes = ClientNetwork.current.limits.leastBytes
    return try await PeerConnection.open(
      endpoint, trust, profile.configuration, silenceLimit: silenceLimit, handshakeLimit: handshakeLimit
    ) { channel, handlers in
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(ReadDeadline(.seconds(Int64(silenceLimit)), leastBytes: leastBytes))
      try pipeline.addHandlers(handlers)
      return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
    }
  }

  private static func describe(
    _ error: any Error, of endpoint: PeerEndpoint, _ trust: CertificateTrust, silenceLimit: Int
  ) -> any Error {
    switch error {
    case AppAnswerReader.Failure.cutOff: return PeerError.connectionLost(endpoint: endpoint.description)
    case AppAnswerReader.Failure.notHTTP:
      // A server with the phone's certificate is the phone, so searching for another address would be pointless.
      guard case .pinned = trust else {
        return PeerError.notHpeer(endpoint: endpoint.description, detail: "its answer is not HTTP")
      }
      return PeerError.unexpectedAnswer(status: 200, message: "something else than HTTP as the app has it")
    case AppAnswerReader.Failure.tooLong:
      return PeerError.unexpectedAnswer(status: 200, message: "an answer longer than any has")
    default: return PeerConnection.describe(error, endpoint: endpoint, isConnected: true, silenceLimit: silenceLimit)
    }
  }
}
