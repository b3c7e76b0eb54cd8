import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A phone's TLS listener on a port that changes with each start. Each connection carries a single request, of which
/// only the first bytes that arrive are read.
public final class PhoneServer: Sendable {
  /// Variations of the transport.
  public struct Quirks: Sendable {
    /// Whether the server sends close_notify before it closes a connection, as TLS requires.
    public var saysGoodbye = false
    public var leastTLS = TLSVersion.tlsv12
    public var mostTLS: TLSVersion?
    /// Whether connections are closed in the middle of answers.
    public var cutsAnswers = false

    public init() {}
  }

  public let port: Int
  private let channel: any Channel
  private let connections: Connections

  /// The counters of a server.
  public struct Counts: Sendable {
    public var connections = 0
    /// The highest number of application data records that a connection had received when its request arrived,
    /// without those of the handshake.
    public var mostRecords = 0
  }

  fileprivate final class Connections: Sendable {
    let counts = Mutex(Counts())
  }

  public var counts: Counts { connections.counts.withLock(\.self) }

  /// Starts a server that listens until ``stop()`` is called.
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

/// A handler below TLS that counts records and can close the connection without close_notify.
private final class WireHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let connections: PhoneServer.Connections
  private var context: ChannelHandlerContext?
  private var buffer = ByteBuffer()
  private var records = 0
  /// Whether the connection uses TLS 1.3, in which the client's last handshake message is an application data record.
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
