import Foundation
import GRDB
import HealthModel
import NIOCore
import NIOPosix
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

@testable import HealthStore
@testable import PeerServer

@Suite("Streams that something happens to")
struct StreamTests {
  @Test("a store that fails in the middle ends the stream with a line that says so")
  func storeFails() async throws {
    let lines = try await interrupted { (store: HealthStore) in
      try await store.pool.write { db in try db.execute(sql: "ALTER TABLE tombstone RENAME TO gone") }
    }
    #expect(lines.last == .error("The store cannot answer right now."))
    #expect(lines.count > 2_000 && lines.count < 9_000)
  }

  @Test("tombstones that are forgotten meanwhile end the stream after a token, and the next request starts over")
  func tombstonesForgotten() async throws {
    let lines = try await interrupted { store in
      try await store.apply(ChangeBatch(deletions: [Samples.tombstone]))
      try await store.feed.pruneTombstones(before: Timestamp(microseconds: .max))
    }
    guard case .token(_, more: true)? = lines.last else {
      Issue.record("\(String(describing: lines.last))")
      return
    }
    #expect(lines.count < 9_000)
  }

  /// Returns the lines of a feed during which an event happens to the store.
  private func interrupted(_ event: @Sendable @escaping (HealthStore) async throws -> Void) async throws -> [ChangeLine]
  {
    try await withServer(ServerOptions(samples: Samples.bulky(9_000))) { server in
      let token = try await server.token().token
      let body = try await PeerConnection.withConnection(to: server.endpoint, trust: server.trust) { connection in
        _ = try await connection.send(
          .GET, Route.changes,
          headers: [("Authorization", "Bearer \(token.text)"), ("Accept", ChangeFeedFormat.lines.rawValue)])
        try await event(server.store)
        return try await connection.body(limit: 64 << 20)
      }
      let read = try await eventually { try await server.audited(.dataRead).first }
      #expect(read.detail["complete"] == "false")
      var decoder = ChangeLineDecoder()
      return try body.withUnsafeBytes { try decoder.decode($0) }
    }
  }

  @Test("a client that stops reading does not keep the server from stopping", .timeLimit(.minutes(5)))
  func stalledClient() async throws {
    let reading = AsyncStream.makeStream(of: Void.self)
    let client = try await withServer(ServerOptions(samples: Samples.bulky(9_000))) { server in
      let token = try await server.token().token
      let client = Task {
        try await withRawTLS(to: server.port) { inbound, outbound in
          try await outbound.write(
            ByteBuffer(
              string:
                "GET \(Route.changes) HTTP/1.1\r\nHost: a\r\nAccept: application/x-ndjson\r\nAuthorization: Bearer \(token.text)\r\n\r\n"
            ))
          for try await _ in inbound { break }
          reading.continuation.yield()
          try await Task.sleep(for: .seconds(3600))
        }
      }
      await reading.stream.first { _ in true }
      return client
    }
    client.cancel()
    _ = await client.result
  }

  @Test("the kernel is told when to give up a peer that is gone")
  func userTimeout() async throws {
    try await withListener { inbound, _ in
      for try await _ in inbound {}
    } _: { port in
      let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(StalledPeer()) }
        }
        .connect(host: "127.0.0.1", port: port).get()
      let option = ChannelOptions.Types.SocketOption(
        level: .init(rawValue: CInt(IPPROTO_TCP)), name: .init(rawValue: TCP_USER_TIMEOUT))
      #expect(try await channel.getOption(option).get() & 0xFFFF_FFFF == 120_000)
      #expect(try await channel.getOption(.socketOption(.so_keepalive)).get() & 1 == 1)
      try await channel.close()
    }
  }
}
