import NIOCore
import NIOEmbedded
import NIOSSL
import NIOTLS
import PeerProtocol
import PeerTrust
import TestSupport
import Testing

@testable import PeerServer

/// Tests in memory and with a simulated clock, so that each byte arrives at a chosen time.
@Suite("Looking at the ClientHello before TLS does")
struct ClientHelloPeekTests {
  /// A handler that records what TLS outputs, and stops errors.
  private final class Watch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    var isSecure = false
    var text = ""

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { isSecure = true }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { text += String(buffer: unwrapInboundIn(data)) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
  }

  private static func server(
    _ tls: ServerTLS, limits: ServingLimits = ServingLimits()
  ) throws -> (channel: EmbeddedChannel, watch: Watch) {
    let watch = Watch()
    let channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandlers([ClientHelloPeek(limits: limits, makeTLS: tls.handler), watch])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return (channel, watch)
  }

  private static func client(
    offering protocols: [String], showing identity: PeerIdentity
  ) throws -> (channel: EmbeddedChannel, watch: Watch) {
    let context = try NIOSSLContext(configuration: try clientTLS(offering: protocols, showing: identity))
    let watch = Watch()
    let channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandlers([
      try NIOSSLClientHandler(context: context, serverHostname: nil), watch,
    ])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return (channel, watch)
  }

  private static func drain(_ channel: EmbeddedChannel) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
    return bytes
  }

  /// Splits handshake bytes into records of `length`. Other records stay unchanged.
  private static func divide(_ flight: [UInt8], _ length: Int) -> [UInt8] {
    guard flight.first == 22, flight.count > 5 else { return flight }
    return ClientHelloBytes.records(Array(flight[5...]), of: length)
  }

  /// Lets both sides exchange bytes until neither has more to send. The client's bytes arrive in pieces.
  private static func talk(
    _ client: EmbeddedChannel, _ server: EmbeddedChannel, pieces: Int, records: Int
  ) throws {
    var isFirst = true
    while true {
      var toServer = try drain(client)
      if isFirst { toServer = divide(toServer, records) }
      isFirst = false
      for start in stride(from: 0, to: toServer.count, by: pieces) {
        try server.writeInbound(ByteBuffer(bytes: toServer[start..<min(start + pieces, toServer.count)]))
        // A certificate is judged in a turn of its own.
        server.embeddedEventLoop.run()
      }
      let toClient = try drain(server)
      if !toClient.isEmpty { try client.writeInbound(ByteBuffer(bytes: toClient)) }
      if toServer.isEmpty && toClient.isEmpty { return }
    }
  }

  private static func handshake(
    _ identity: PeerIdentity, _ laptop: PeerIdentity, offering protocols: [String], pieces: Int, records: Int
  ) throws -> (isSecure: Bool, certificate: Fingerprint?, text: String, isGone: Bool) {
    let (server, atServer) = try server(try ServerTLS(identity, shutdown: .seconds(1)))
    let (client, atClient) = try client(offering: protocols, showing: laptop)
    try talk(client, server, pieces: pieces, records: records)
    try client.writeOutbound(ByteBuffer(string: "hello"))
    try talk(client, server, pieces: pieces, records: 16_384)
    let shown = try server.pipeline.syncOperations.nioSSL_peerCertificate()
    let isGone = (try? server.pipeline.syncOperations.handler(type: ClientHelloPeek.self)) == nil
    let certificate = try shown.map { Fingerprint(certificateDER: try $0.toDERBytes()) }
    return (atServer.isSecure && atClient.isSecure, certificate, atServer.text, isGone)
  }

  @Test(
    "a handshake comes about however its ClientHello is divided, and only hpeer's client is asked for its certificate",
    arguments: [1, 2, 7, 100, 100_000], [1, 50, 16_384])
  func division(pieces: Int, records: Int) async throws {
    let (identity, laptop) = try await (makeIdentity(), makeIdentity())
    for (protocols, isAsked) in [([], false), (["h2", "http/1.1"], false), (["hpeer/1", "http/1.1"], true)] {
      let result = try Self.handshake(identity, laptop, offering: protocols, pieces: pieces, records: records)
      #expect(result.isSecure, "\(protocols)")
      #expect(result.certificate == (isAsked ? laptop.fingerprint : nil), "\(protocols)")
      #expect(result.text == "hello" && result.isGone, "\(protocols)")
    }
  }

  @Test("whoever has not said all of it in time is cut off; whoever has is left to the handshake's own deadline")
  func deadline() async throws {
    try Self.deadlines(try await makeIdentity())
  }

  private static func deadlines(_ identity: PeerIdentity) throws {
    let tls = try ServerTLS(identity, shutdown: .seconds(1))
    let hello = try drain(try client(offering: ["hpeer/1"], showing: identity).channel)
    for (bytes, isHeld) in [([], false), (Array(hello.dropLast()), false), (hello, true)] {
      let (channel, _) = try server(tls)
      // It does not help to send a little now and then.
      channel.embeddedEventLoop.advanceTime(by: .milliseconds(4_900))
      try channel.writeInbound(ByteBuffer(bytes: bytes))
      #expect(channel.isActive)
      channel.embeddedEventLoop.advanceTime(by: .milliseconds(200))
      #expect(channel.isActive == isHeld, "\(bytes.count) bytes")
    }
  }

  @Test("a connection that ends before its ClientHello is closed on this side, too")
  func end() async throws {
    let tls = try ServerTLS(try await makeIdentity(), shutdown: .seconds(1))
    func ends() throws {
      let (channel, _) = try Self.server(tls)
      try channel.writeInbound(ByteBuffer(bytes: [22, 3, 1]))
      channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      #expect(!channel.isActive)
    }
    try ends()
  }

  @Test(
    "what is no ClientHello, or too long for one, is left to TLS, which ends the connection",
    arguments: [
      Array("GET / HTTP/1.1\r\n\r\n".utf8), [UInt8](repeating: 0, count: 100),
      [22, 3, 1, 0, 0, 22, 3, 1, 0, 4, 7, 0, 0, 0],
      ClientHelloBytes.records(ClientHelloBytes(protocols: ["hpeer/1"], padding: 17_000).message),
      ClientHelloBytes.records(ClientHelloBytes(protocols: ["hpeer/1"], padding: 17_000).message, of: 10),
    ])
  func refused(bytes: [UInt8]) async throws {
    let tls = try ServerTLS(try await makeIdentity(), shutdown: .seconds(1))
    func refuse() throws {
      let (channel, watch) = try Self.server(tls)
      _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))
      #expect(!channel.isActive && !watch.isSecure)
    }
    try refuse()
  }
}
