import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A phone's listener: TLS on a port that is another each time, one request a connection, of which the first bytes that
/// arrive are all.
public final class PhoneServer: Sendable {
  /// What of the transport can be otherwise.
  public struct Quirks: Sendable {
    /// Whether it says goodbye before it hangs up, as TLS wants it.
    public var saysGoodbye = false
    public var leastTLS = TLSVersion.tlsv12
    public var mostTLS: TLSVersion?
    /// Hangs up in the middle of its answers.
    public var cutsAnswers = false

    public init() {}
  }

  public let port: Int
  private let channel: any Channel
  private let connections: Connections

  /// What is counted.
  public struct Counts: Sendable {
    public var connections = 0
    /// TLS records of application data with a request, the handshake's not counted; the most that one connection had.
    public var mostRecords = 0
  }

  fileprivate final class Connections: Sendable {
    let counts = Mutex(Counts())
  }

  public var counts: Counts { connections.counts.withLock(\.self) }

  /// Listens until ``stop()``.
  public init(
    _ app: any PhoneApp, _ certificate: PhoneCertificate, host: String = "127.0.0.1", port: Int = 0,
    quirks: Quirks = Quirks()
  ) async throws {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: [.certificate(try NIOSSLCertificate(bytes: certificate.der, format: .der))],
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(certificate.keyPEM.utf8), format: .pem)))
    configuration.minimumTLSVersion = quirks.leastTLS
    configuration.maximumTLSVersion = quirks.mostTLS
    let context = try NIOSSLContext(configuration: configuration)
    let connections = Connections()
    self.connections = connections
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          connections.counts.withLock { $0.connections += 1 }
          let wire = WireHandler(connections)
          try channel.pipeline.syncOperations.addHandlers([
            wire, NIOSSLServerHandler(context: context), RequestHandler(app, quirks, wire),
          ])
        }
      }
      .bind(host: host, port: port).get()
    self.port = channel.localAddress?.port ?? 0
  }

  public func stop() async { try? await channel.close().get() }
}

/// Below TLS: counts records, and hangs up without a word.
private final class WireHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let connections: PhoneServer.Connections
  private var context: ChannelHandlerContext?
  private var buffer = ByteBuffer()
  private var records = 0
  /// The client's last word of the handshake is encrypted as data is in TLS 1.3.
  var isTLS13 = false

  init(_ connections: PhoneServer.Connections) { self.connections = connections }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    buffer.writeBuffer(&bytes)
    // Type, version, length (RFC 8446 section 5.1).
    while let length = buffer.getInteger(at: buffer.readerIndex + 3, as: UInt16.self),
      buffer.readableBytes >= 5 + Int(length)
    {
      if buffer.getInteger(at: buffer.readerIndex, as: UInt8.self) == 23 { records += 1 }
      buffer.moveReaderIndex(forwardBy: 5 + Int(length))
    }
    context.fireChannelRead(data)
  }

  func countRequest() {
    let records = records - (isTLS13 ? 1 : 0)
    connections.counts.withLock { $0.mostRecords = max($0.mostRecords, records) }
  }

  func hangUp() { context?.close(promise: nil) }
}

private final class RequestHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let app: any PhoneApp
  private let quirks: PhoneServer.Quirks
  private let wire: WireHandler
  private var isDone = false

  init(_ app: any PhoneApp, _ quirks: PhoneServer.Quirks, _ wire: WireHandler) {
    (self.app, self.quirks, self.wire) = (app, quirks, wire)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isDone else { return }
    isDone = true
    if let tls = try? context.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self) {
      wire.isTLS13 = tls.tlsVersion == .tlsv13
    }
    wire.countRequest()
    switch app.react(to: Array(unwrapInboundIn(data).readableBytesView)) {
    case .silence: return
    case .crash: wire.hangUp()
    case .answer(let bytes):
      let sent = quirks.cutsAnswers ? bytes.dropLast(max(1, bytes.count / 2)) : bytes[...]
      let (wire, goodbye) = (NIOLoopBound(wire, eventLoop: context.eventLoop), quirks.saysGoodbye)
      let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: sent))).whenComplete { _ in
        if goodbye { bound.value.close(promise: nil) } else { wire.value.hangUp() }
      }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { wire.hangUp() }
}
