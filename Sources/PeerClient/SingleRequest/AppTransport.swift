import NIOCore
import NIOSSL
import PeerProtocol

/// What servers of a dialect want of a TLS connection.
public struct TransportProfile: Hashable, Sendable {
  /// The least version that such servers speak, and that is accepted of them.
  public enum LeastTLS: Hashable, Sendable {
    case tls12, tls13
  }

  /// Higher ones are preferred.
  public var leastTLS: LeastTLS

  /// - Parameter leastTLS: see ``leastTLS-swift.property``.
  public init(leastTLS: LeastTLS) { self.leastTLS = leastTLS }

  fileprivate var configuration: TLSConfiguration {
    PeerConnection.pinnedConfiguration(minimum: leastTLS == .tls12 ? .tlsv12 : .tlsv13)
  }
}

/// Connections to apps on phones: each has one request and one answer, as the apps have it. No client certificate is shown
/// and no protocol negotiated; an end without close_notify is as good as any.
enum AppTransport {
  /// Sends one request over a connection of its own, whose certificate must be `trust`'s before a byte is sent.
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
          // The end all the same: whether the answer is whole, its length says.
        }
        return try reader.end()
      }
    } catch {
      try Task.checkCancellation()
      throw describe(error, of: endpoint, trust, silenceLimit: silenceLimit)
    }
  }

  /// Shakes hands and hangs up, which tells the other side nothing. Throws ``PeerError`` unless it shows the certificate.
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
      // What has shown the phone's certificate is the phone, and need not be looked for elsewhere.
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
