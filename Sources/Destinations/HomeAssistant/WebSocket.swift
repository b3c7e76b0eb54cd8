import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// A WebSocket client (RFC 6455) for text messages of limited size, based on NIO's codec.
struct WebSocket {
  /// The maximum size of a received message in bytes; it may consist of at most ``mostFrames`` frames.
  static let longestMessage = 4 * 1_024 * 1_024
  private static let mostFrames = 1_024
  /// The maximum number of pings while waiting for an answer; servers send about one a minute.
  private static let mostPings = 100
  /// The time limits for connecting and for the answer to the handshake.
  private static let (connecting, answering) = (TimeAmount.seconds(15), TimeAmount.seconds(60))

  /// The time without a frame after which the other side counts as gone. Home Assistant pings every minute.
  private static let silence = TimeAmount.seconds(180)

  private typealias Channel = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

  private let outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
  private var inbound: NIOAsyncChannelInboundStream<WebSocketFrame>.AsyncIterator
  private let host: String

  /// Connects, runs a closure and closes the connection.
  ///
  /// - Parameters:
  ///   - url: http:// or https://, with the path.
  ///   - authority: the path of a PEM file; `nil` if the system's authorities are trusted.
  /// - Throws: ``DeliveryError``, or an error of `body`.
  static func with<Value: Sendable>(
    _ url: URL, authority: String?, _ body: (inout WebSocket) async throws -> Value
  ) async throws -> Value {
    let host = url.host(percentEncoded: false) ?? ""
    let channel: Channel
    do {
      guard let found = try await connect(url, host: host, authority: authority) else {
        throw DeliveryError.unusable(reason: "\(host) speaks no WebSocket at \(url.path): is url right?")
      }
      channel = found
    } catch {
      try Task.checkCancellation()
      throw await HTTPFailure.deliveryError(error, url: url.absoluteString)
    }
    return try await channel.executeThenClose { inbound, outbound in
      var socket = WebSocket(outbound: outbound, inbound: inbound.makeAsyncIterator(), host: host)
      return try await body(&socket)
    }
  }

  /// Sends one message.
  func send(_ text: String) async throws {
    try await write(.text, ByteBuffer(string: text))
  }

  /// Returns the next message. Throws ``DeliveryError/temporary(reason:retryAfter:)`` if the connection ends.
  mutating func receive() async throws -> [UInt8] {
    var pings = 0
    while true {
      let frame: WebSocketFrame?
      do {
        frame = try await inbound.next()
      } catch let error as CancellationError {
        throw error
      } catch {
        throw DeliveryError.temporary(reason: "\(host) sends what is no WebSocket, or too long a message")
      }
      try Task.checkCancellation()
      switch frame?.opcode {
      case .text, .binary: return Array(buffer: frame?.unmaskedData ?? ByteBuffer())
      case .ping:
        pings += 1
        guard pings <= Self.mostPings else {
          throw DeliveryError.temporary(reason: "\(host) sends pings and no answer")
        }
        try await write(.pong, frame?.unmaskedData ?? ByteBuffer())
      case nil, .connectionClose: throw DeliveryError.temporary(reason: "\(host) closed the connection")
      default: continue
      }
    }
  }

  private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) async throws {
    do {
      try await outbound.write(WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data))
    } catch let error as CancellationError {
      throw error
    } catch {
      try Task.checkCancellation()
      throw DeliveryError.temporary(reason: "\(host) closed the connection")
    }
  }

  // MARK: Connecting

  /// Connects to a server.
  ///
  /// - Returns: `nil` if the server doesn't answer the handshake with `101`.
  private static func connect(_ url: URL, host: String, authority: String?) async throws -> Channel? {
    let isEncrypted = url.scheme?.lowercased() == "https"
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    if let authority { tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authority)) }
    let context = isEncrypted ? try NIOSSLContext(configuration: tls) : nil
    var address = in6_addr()
    let isAddress = inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
    let name = isAddress ? nil : host
    let head = request(url, host: host)
    let upgraded = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(connecting)
      .connect(host: host, port: url.port ?? (isEncrypted ? 443 : 80)) { channel in
        channel.eventLoop.makeCompletedFuture {
          if let context {
            try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: context, serverHostname: name))
          }
          let late = channel.eventLoop.scheduleTask(in: answering) { channel.close(promise: nil) }
          var configuration = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: upgrade(head))
          // The server's first frame may arrive together with its answer.
          configuration.leftOverBytesStrategy = .forwardBytes
          let future = try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
            configuration: configuration)
          future.whenComplete { _ in late.cancel() }
          return future
        }
      }
    return try await upgraded.get()
  }

  private static func request(_ url: URL, host: String) -> HTTPRequestHead {
    var headers = HTTPHeaders()
    let name = host.contains(":") ? "[\(host)]" : host
    headers.add(name: "Host", value: url.port.map { "\(name):\($0)" } ?? name)
    headers.add(name: "User-Agent", value: "hpeer")
    return HTTPRequestHead(
      version: .http1_1, method: .GET, uri: url.path.isEmpty ? "/" : url.path, headers: headers)
  }

  private static func upgrade(_ head: HTTPRequestHead) -> NIOTypedHTTPClientUpgradeConfiguration<Channel?> {
    let upgrader = NIOTypedWebSocketClientUpgrader<Channel?>(maxFrameSize: longestMessage) { channel, _ in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(
          NIOWebSocketFrameAggregator(
            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: mostFrames, maxAccumulatedFrameSize: longestMessage))
        try channel.pipeline.syncOperations.addHandlers([IdleStateHandler(readTimeout: silence), SilentPeer()])
        return try Channel(wrappingChannelSynchronously: channel)
      }
    }
    return NIOTypedHTTPClientUpgradeConfiguration(upgradeRequestHead: head, upgraders: [upgrader]) { channel in
      channel.close(promise: nil)
      return channel.eventLoop.makeSucceededFuture(nil)
    }
  }
}

/// Closes a connection on which nothing was read for as long as an `IdleStateHandler` before it says.
private final class SilentPeer: ChannelInboundHandler {
  typealias InboundIn = NIOAny

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .read? = event as? IdleStateHandler.IdleStateEvent { return context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }
}
