import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PeerDiscovery
import PeerProtocol
import PeerTrust

extension PeerConnection {
  package typealias HTTPChannel = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

  private static let connectTimeout = TimeAmount.seconds(5)
  /// The time limit for the other side to answer the TLS closing message.
  private static let goodbyeTimeout = TimeAmount.milliseconds(500)

  /// Connects, runs `body`, and closes the connection. Network errors are thrown as ``PeerError``. A cancelled task
  /// gets a `CancellationError`, whatever the network reports.
  ///
  /// - Parameters:
  ///   - identity: the identity whose certificate is shown if the server asks, after the server's own was accepted;
  ///     `nil` for none. A bound token is refused without it.
  ///   - silenceLimit: the number of seconds without a byte from the peer after which it is considered gone.
  ///   - handshakeLimit: the time limit for the TLS handshake, after which
  ///     ``PeerError/unreachable(endpoint:reason:)`` is thrown; `nil` leaves it to the other limits.
  public static func withConnection<Result: Sendable>(
    to endpoint: PeerEndpoint, trust: CertificateTrust, identity: PeerIdentity? = nil,
    silenceLimit: Int = silenceLimit, handshakeLimit: Duration? = nil, _ body: (PeerConnection) async throws -> Result
  ) async throws -> Result {
    let network = ClientNetwork.current
    let (channel, fingerprint) = try await network.connect(endpoint, trust, identity, silenceLimit, handshakeLimit)
    do {
      return try await channel.executeThenClose { inbound, outbound in
        try await body(
          PeerConnection(
            endpoint: endpoint, fingerprint: fingerprint, rotation: identity?.rotation, limits: network.limits,
            inbound: inbound, outbound: outbound))
      }
    } catch {
      try Task.checkCancellation()
      throw describe(error, endpoint: endpoint, isConnected: true, silenceLimit: silenceLimit)
    }
  }

  /// Returns an HTTP channel whose TLS handshake has succeeded, and the server's fingerprint.
  static func connect(
    to endpoint: PeerEndpoint, trust: CertificateTrust, identity: PeerIdentity?, silenceLimit: Int,
    handshakeLimit: Duration?
  ) async throws -> (HTTPChannel, Fingerprint) {
    let limits = ClientNetwork.current.limits
    return try await open(
      endpoint, trust, try tlsConfiguration(identity), silenceLimit: silenceLimit, handshakeLimit: handshakeLimit
    ) { channel, handlers in
      try addHTTP(to: channel, over: handlers, silenceLimit: silenceLimit, limits: limits)
    }
  }

  /// Returns a channel of any kind whose TLS handshake has succeeded, and the server's fingerprint.
  ///
  /// - Parameter make: adds the TLS handlers and those above them to a channel, on its event loop.
  static func open<Inbound: Sendable, Outbound: Sendable>(
    _ endpoint: PeerEndpoint, _ trust: CertificateTrust, _ configuration: TLSConfiguration, silenceLimit: Int,
    handshakeLimit: Duration?,
    _ make: @escaping @Sendable (any Channel, [any ChannelHandler]) throws -> NIOAsyncChannel<Inbound, Outbound>
  ) async throws -> (NIOAsyncChannel<Inbound, Outbound>, Fingerprint) {
    let context = try NIOSSLContext(configuration: configuration)
    let attempt = ConnectAttempt()
    let clock = handshakeLimit.map { limit in
      MultiThreadedEventLoopGroup.singleton.next().scheduleTask(in: TimeAmount(limit)) { attempt.expire() }
    }
    defer { clock?.cancel() }
    return try await withTaskCancellationHandler {
      var judge: CertificateJudge?
      do {
        let connected = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
          .resolver(try await resolver(for: endpoint, within: handshakeLimit))
          .connectTimeout(connectTimeout)
          .channelOption(.socketOption(.so_keepalive), value: 1)
          .connect(host: endpoint.host, port: endpoint.port) { channel in
            channel.eventLoop.makeCompletedFuture {
              try attempt.add(channel)
              return try addHandlers(to: channel, context: context, trust: trust, make)
            }
          }
        judge = connected.judge
        do {
          try await connected.handshake.get()
        } catch {
          // NIO requires that the channel is run before it is closed.
          try? await connected.channel.executeThenClose { _, _ in }
          throw error
        }
        guard let fingerprint = connected.judge.seen else {
          try? await connected.channel.executeThenClose { _, _ in }
          throw PeerError.handshakeFailed(endpoint: endpoint.description, reason: "it showed no certificate")
        }
        guard attempt.succeed() else {
          try? await connected.channel.executeThenClose { _, _ in }
          throw ChannelError.connectTimeout(.zero)
        }
        return (connected.channel, fingerprint)
      } catch {
        try Task.checkCancellation()
        if let mismatch = judge?.mismatch { throw mismatch }
        if attempt.isExpired, let handshakeLimit {
          throw PeerError.unreachable(
            endpoint: endpoint.description, reason: "no answer within \(max(1, handshakeLimit.components.seconds)) s")
        }
        throw describe(error, endpoint: endpoint, isConnected: false, silenceLimit: silenceLimit)
      }
    } onCancel: {
      attempt.cancel()
    }
  }

  /// Returns the addresses of a `.local` name, which the system's resolver may not know, or `nil` to use that
  /// resolver.
  private static func resolver(for endpoint: PeerEndpoint, within limit: Duration?) async throws -> KnownAddresses? {
    guard HostNameLookup.isLocal(endpoint.host) else { return nil }
    let patience = min(HostNameLookup.patience, limit ?? HostNameLookup.patience)
    let addresses = try? await HostNameLookup().addresses(of: endpoint.host, within: patience)
    try Task.checkCancellation()
    guard let addresses, !addresses.isEmpty else { return nil }
    return KnownAddresses(addresses, port: endpoint.port)
  }

  private static func tlsConfiguration(_ identity: PeerIdentity?) throws -> TLSConfiguration {
    // Every hpeer speaks TLS 1.3, in which an eavesdropper cannot see the client certificate (RFC 8446 section 4.4).
    var configuration = pinnedConfiguration(minimum: .tlsv13)
    configuration.applicationProtocols = [NegotiatedProtocol.hpeer, NegotiatedProtocol.http]
    if let identity {
      configuration.certificateChain = [.certificate(try identity.tlsCertificate)]
      configuration.privateKey = .privateKey(try identity.tlsPrivateKey)
    }
    return configuration
  }

  /// Returns the TLS configuration of connections whose certificate is checked by ``CertificateJudge``.
  static func pinnedConfiguration(minimum: TLSVersion) -> TLSConfiguration {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = minimum
    configuration.certificateVerification = .noHostnameVerification
    // Loading the system's certificate authorities would be the largest cost of a connection.
    configuration.trustRoots = .certificates([])
    configuration.shutdownTimeout = goodbyeTimeout
    return configuration
  }

  private struct Connected<Inbound: Sendable, Outbound: Sendable>: Sendable {
    let channel: NIOAsyncChannel<Inbound, Outbound>
    let handshake: EventLoopFuture<Void>
    let judge: CertificateJudge
  }

  /// Adds the handlers of one channel. Each tried address has its own channel, judge and handshake, and only one of
  /// them wins.
  private static func addHandlers<Inbound: Sendable, Outbound: Sendable>(
    to channel: any Channel, context: NIOSSLContext, trust: CertificateTrust,
    _ make: (any Channel, [any ChannelHandler]) throws -> NIOAsyncChannel<Inbound, Outbound>
  ) throws -> Connected<Inbound, Outbound> {
    let judge = CertificateJudge(trust)
    let watch = HandshakeWatch(channel.eventLoop.makePromise())
    let tls = try NIOSSLClientHandler(
      context: context, serverHostname: nil,
      customVerificationCallback: { chain, promise in promise.succeed(judge.judge(chain)) })
    return Connected(channel: try make(channel, [tls, watch]), handshake: watch.future, judge: judge)
  }

  /// Adds the HTTP handlers to a channel. Call this on the channel's event loop.
  ///
  /// - Parameter handlers: the handlers below HTTP, such as TLS.
  package static func addHTTP(
    to channel: any Channel, over handlers: [any ChannelHandler], silenceLimit: Int, limits: ClientLimits
  ) throws -> HTTPChannel {
    let pipeline = channel.pipeline.syncOperations
    let deadline = ReadDeadline(.seconds(Int64(silenceLimit)), leastBytes: limits.leastBytes)
    let budget = AnswerBudget(limits)
    try pipeline.addHandler(deadline)
    try pipeline.addHandlers(handlers)
    try pipeline.addHandler(budget)
    try pipeline.addHTTPClientHandlers()
    try pipeline.addHandler(RequestMark(deadline, budget))
    return try HTTPChannel(wrappingChannelSynchronously: channel)
  }
}
