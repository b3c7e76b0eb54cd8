import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import PeerClient
import PeerProtocol
import Synchronization

/// An in-memory connection from a client to a ``HostileServer``: HTTP without TLS and sockets, with a clock that
/// moves on when client and server are idle.
final class MemoryNetwork: Sendable {
  private let server: HostileServer
  private let limits: ClientLimits
  private let clock = SkippingClock()
  private let connections = Mutex<[(loop: NIOAsyncTestingEventLoop, task: Task<Void, Never>)]>([])

  init(_ server: HostileServer, _ limits: ClientLimits) {
    (self.server, self.limits) = (server, limits)
  }

  /// The certificate fingerprint that a client sees if it has pinned none.
  private static let fingerprint = Fingerprint(certificateDER: [0])

  var client: ClientNetwork {
    var network = ClientNetwork()
    network.limits = limits
    network.clock = clock
    network.connect = { [self] endpoint, trust, _, silenceLimit, _ in
      guard await server.isThere() else {
        throw PeerError.unreachable(endpoint: endpoint.description, reason: "nobody is there")
      }
      let channel = NIOAsyncTestingChannel()
      let limits = limits
      let http = try await channel.testingEventLoop.executeInContext {
        try PeerConnection.addHTTP(
          to: channel, over: [PlainBytes()], silenceLimit: silenceLimit, limits: limits)
      }
      try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
      let task = Task { [server] in await MemoryConnection(channel, server).run() }
      connections.withLock { $0.append((channel.testingEventLoop, task)) }
      if case .pinned(let fingerprint, _) = trust { return (http, fingerprint) }
      return (http, Self.fingerprint)
    }
    return network
  }

  /// Waits until every connection has ended. Call it only when the client has finished, because an event loop that is
  /// shut down never completes further work.
  func end() async {
    for (loop, task) in connections.withLock({ $0 }) {
      await task.value
      await loop.shutdownGracefully()
    }
  }
}

/// A handler in place of TLS that passes bytes on and rejects file regions.
private final class PlainBytes: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    context.write(wrapOutboundOut(unwrapOutboundIn(data)), promise: promise)
  }
}

/// The server's end of a connection.
private struct MemoryConnection {
  private let channel: NIOAsyncTestingChannel
  private let server: HostileServer
  /// A counter of events, used to detect idle times.
  private let activity = Activity()

  private final class Activity: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func happens() { count.withLock { $0 += 1 } }
  }

  init(_ channel: NIOAsyncTestingChannel, _ server: HostileServer) {
    (self.channel, self.server) = (channel, server)
  }

  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await serve() }
      group.addTask { await keepTime() }
      await group.next()
      group.cancelAll()
    }
    try? await channel.close().get()
    await channel.testingEventLoop.run()
  }

  private func serve() async {
    var bytes = ByteBuffer()
    while var arrived = try? await channel.waitForOutboundWrite(as: ByteBuffer.self) {
      activity.happens()
      bytes.writeBuffer(&arrived)
      while let request = HostileRequest(&bytes) {
        for piece in await server.answer(request) {
          activity.happens()
          guard channel.isActive else { return }
          switch piece {
          // What the client's handlers threw is the client's to see.
          case .bytes(let bytes):
            _ = try? await channel.writeInbound(ByteBuffer(bytes: bytes))
            await channel.testingEventLoop.run()
          case .wait(let seconds): await advance(by: seconds)
          case .close: return
          }
        }
      }
    }
  }

  /// Advances the clock while the connection is idle, so that a client whose server says nothing reaches its
  /// timeouts.
  private func keepTime() async {
    var last = -1
    while !Task.isCancelled {
      guard (try? await Task.sleep(for: .milliseconds(40))) != nil else { return }
      if activity.value == last { await advance(by: 40) }
      last = activity.value
    }
  }

  private func advance(by seconds: Int) async {
    // As a socket does after each read; without it nobody waits for anything.
    channel.read()
    await channel.testingEventLoop.advanceTime(by: .seconds(Int64(seconds)))
  }
}
