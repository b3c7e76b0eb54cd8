import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerClient

@Suite("Peers that say nothing, and people who lose patience")
struct SilenceTests {
  @Test("the deadline passes when nothing was read for its length")
  func passes() async throws {
    let channel = EmbeddedChannel(handlers: [ReadDeadline(.seconds(30))])
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    channel.read()
    channel.embeddedEventLoop.advanceTime(by: .seconds(29))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(throws: ReadDeadline.Passed.self) { try channel.throwIfErrorCaught() }
    #expect(!channel.isActive)
  }

  @Test("each byte begins the time anew")
  func begins() async throws {
    let channel = EmbeddedChannel(handlers: [ReadDeadline(.seconds(30))])
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    for _ in 0..<5 {
      channel.read()
      channel.embeddedEventLoop.advanceTime(by: .seconds(29))
      try channel.writeInbound(ByteBuffer(repeating: 0, count: ClientLimits().leastBytes))
    }
    #expect(channel.isActive)
    try channel.throwIfErrorCaught()
  }

  @Test("a peer that drips a byte before each deadline is given up all the same")
  func trickle() async throws {
    let channel = EmbeddedChannel(handlers: [ReadDeadline(.seconds(30))])
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    for _ in 0..<2 {
      channel.read()
      channel.embeddedEventLoop.advanceTime(by: .seconds(29))
      try channel.writeInbound(ByteBuffer(string: "x"))
    }
    channel.read()
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    let error = #expect(throws: ReadDeadline.Passed.self) { try channel.throwIfErrorCaught() }
    #expect(error == .trickle)
    #expect(!channel.isActive)
  }

  @Test("time in which we do not want to read is nothing that a slow peer is blamed for")
  func slowStore() async throws {
    let channel = EmbeddedChannel(handlers: [ReadDeadline(.seconds(30))])
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    for _ in 0..<50 {
      channel.read()
      channel.embeddedEventLoop.advanceTime(by: .seconds(1))
      try channel.writeInbound(ByteBuffer(string: "x"))
      channel.embeddedEventLoop.advanceTime(by: .minutes(10))
    }
    #expect(channel.isActive)
    try channel.throwIfErrorCaught()
  }

  @Test("each request has the whole time, so that a connection that is quiet between answers lives on")
  func eachRequest() async throws {
    let deadline = ReadDeadline(.seconds(30))
    let channel = EmbeddedChannel(handlers: [deadline])
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    channel.read()
    for _ in 0..<1_000 {
      // Reading is wanted before the request leaves, while what came is put away.
      channel.embeddedEventLoop.advanceTime(by: .seconds(20))
      deadline.requestBegins()
      channel.embeddedEventLoop.advanceTime(by: .seconds(25))
      try channel.writeInbound(ByteBuffer(string: "nothing new"))
      channel.read()
    }
    #expect(channel.isActive)
    try channel.throwIfErrorCaught()
    // Within one answer, dripping is still dripping.
    deadline.requestBegins()
    for _ in 0..<2 {
      channel.embeddedEventLoop.advanceTime(by: .seconds(29))
      try channel.writeInbound(ByteBuffer(string: "x"))
      channel.read()
    }
    channel.embeddedEventLoop.advanceTime(by: .seconds(2))
    let error = #expect(throws: ReadDeadline.Passed.self) { try channel.throwIfErrorCaught() }
    #expect(error == .trickle)
  }

  @Test("no time runs while we do not want to read")
  func notWanted() async throws {
    let channel = EmbeddedChannel(handlers: [ReadDeadline(.seconds(30))])
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    channel.read()
    try channel.writeInbound(ByteBuffer(string: "x"))
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(channel.isActive)
    try channel.throwIfErrorCaught()
  }

  @Test("a server that accepts TLS and then says nothing is called silent")
  func silentServer() async throws {
    let identity = try await makeIdentity()
    try await withCannedServer(tls: identity) { _, _ in
    } _: { port, requests in
      let endpoint = PeerEndpoint(host: "127.0.0.1", port: port)
      await #expect(throws: PeerError.silent(endpoint: endpoint.description, seconds: 3)) {
        try await PeerConnection.withConnection(to: endpoint, trust: .anyForPairing, silenceLimit: 3) {
          _ = try await $0.status()
        }
      }
      #expect(requests().count == 1)
    }
  }

  @Test(
    "a server that drips its answer is called slow, wherever in the answer it is",
    arguments: ["", "HTTP/1.1 200 OK\r\nX: "])
  func drippingServer(begin: String) async throws {
    let identity = try await makeIdentity()
    try await withCannedServer(tls: identity) { _, outbound in
      try await outbound.write(ByteBuffer(string: begin))
      while true {
        try await outbound.write(ByteBuffer(string: begin.isEmpty ? "\r\n" : "x"))
        try await Task.sleep(for: .milliseconds(100))
      }
    } _: { port, requests in
      let endpoint = PeerEndpoint(host: "127.0.0.1", port: port)
      await #expect(throws: PeerError.tooSlow(endpoint: endpoint.description, seconds: 6)) {
        try await PeerConnection.withConnection(to: endpoint, trust: .anyForPairing, silenceLimit: 3) {
          _ = try await $0.status()
        }
      }
    }
  }

  @Test("so is one that accepts the connection and never speaks TLS")
  func silentListener() async throws {
    try await withListener { inbound, _ in
      for try await _ in inbound {}
    } _: { port in
      let endpoint = PeerEndpoint(host: "127.0.0.1", port: port)
      await #expect(throws: PeerError.silent(endpoint: endpoint.description, seconds: 1)) {
        try await PeerConnection.withConnection(to: endpoint, trust: .anyForPairing, silenceLimit: 1) { _ in }
      }
    }
  }

  @Test("cancelling ends a handshake that does not come about at once", .timeLimit(.minutes(5)))
  func cancelHandshake() async throws {
    let accepted = AsyncStream.makeStream(of: Void.self)
    try await withListener { inbound, _ in
      accepted.continuation.yield()
      for try await _ in inbound {}
    } _: { port in
      let task = Task {
        try await PeerConnection.withConnection(
          to: PeerEndpoint(host: "127.0.0.1", port: port), trust: .anyForPairing, silenceLimit: 3600
        ) { _ in }
      }
      await accepted.stream.first { _ in true }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test("cancelling ends a transfer in the middle, without waiting for the other side", .timeLimit(.minutes(5)))
  func cancelTransfer() async throws {
    let identity = try await makeIdentity()
    let piece = ByteBuffer(string: "10000\r\n" + String(repeating: " ", count: 0x10000) + "\r\n")
    try await withCannedServer(tls: identity) { _, outbound in
      try await outbound.write(ByteBuffer(string: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"))
      while true { try await outbound.write(piece) }
    } _: { port, _ in
      let begun = AsyncStream.makeStream(of: Void.self)
      let task = Task {
        try await PeerConnection.withConnection(
          to: PeerEndpoint(host: "127.0.0.1", port: port), trust: .anyForPairing, silenceLimit: 3600
        ) { connection in
          _ = try await connection.send(.GET, "/")
          while try await connection.nextBodyPart() != nil { begun.continuation.yield() }
        }
      }
      await begun.stream.first { _ in true }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test("a task that is cancelled already does not connect")
  func cancelledBefore() async throws {
    let identity = try await makeIdentity()
    try await withCannedServer(tls: identity) { _, _ in
    } _: { port, requests in
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await PeerConnection.withConnection(
          to: PeerEndpoint(host: "127.0.0.1", port: port), trust: .anyForPairing
        ) { _ = try await $0.status() }
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(requests().isEmpty)
    }
  }
}
