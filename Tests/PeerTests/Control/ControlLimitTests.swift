import Foundation
import Logging
import NIOCore
import NIOPosix
import PeerProtocol
import PeerTrust
import Testing

@testable import PeerServer

@Suite("The control socket and local processes that mean no good", .timeLimit(.minutes(5)))
struct ControlLimitTests {
  private func connect(_ path: String) async throws -> ByteChannel {
    try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(unixDomainSocketPath: path) { channel in
        channel.eventLoop.makeCompletedFuture { try ByteChannel(wrappingChannelSynchronously: channel) }
      }
  }

  /// Returns everything received until the server closes the connection.
  private func answer(_ path: String, to text: String) async throws -> String {
    try await connect(path).executeThenClose { inbound, outbound in
      if !text.isEmpty { try await outbound.write(ByteBuffer(string: text)) }
      var answer = ""
      do {
        for try await bytes in inbound { answer += String(buffer: bytes) }
      } catch is IOError {
        // A reset counts as hanging up.
      }
      return answer
    }
  }

  private func opens(_ path: String) async throws -> Bool {
    var isOpen = false
    do {
      try await ControlClient.openWindow(at: path) { event in
        if case .code = event {
          isOpen = true
          throw CancellationError()
        }
      }
    } catch is CancellationError {}
    return isOpen
  }

  @Test("one that says nothing, or never finishes its line, is hung up on", arguments: ["", "openWin"])
  func silent(text: String) async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      try await server.withControl(requestTimeout: .seconds(2)) { path in
        let answer = try await answer(path, to: text)
        #expect(answer == "")
        #expect(try await opens(path))
      }
    }
  }

  @Test("a line may come in pieces")
  func pieces() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      try await server.withControl { path in
        try await connect(path).executeThenClose { inbound, outbound in
          for piece in [#"{"open"#, "Win", #"dow":{"#, "}}", "\n"] {
            try await outbound.write(ByteBuffer(string: piece))
          }
          let first = try await inbound.first { _ in true }
          #expect(String(buffer: try #require(first)).contains("code"))
        }
      }
    }
  }

  @Test("bytes without end are not read to their end", arguments: ["", #"{"openWindow":{}}"# + "\n"])
  func endless(start: String) async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      try await server.withControl { path in
        let connection = try await connect(path)
        try await connection.executeThenClose { _, _ in
          try await connection.channel.writeAndFlush(ByteBuffer(string: start)).get()
          let piece = ByteBuffer(repeating: 0x61, count: 4096)
          await #expect(throws: (any Error).self) {
            while true { try await connection.channel.writeAndFlush(piece).get() }
          }
        }
        #expect(try await opens(path))
      }
    }
  }

  @Test("a crowd leaves room for the next when it goes")
  func crowd() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      try await server.withControl(requestTimeout: .seconds(2)) { path in
        var crowd: [any Channel] = []
        for _ in 0..<50 {
          crowd.append(
            try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
              .connect(unixDomainSocketPath: path).get())
        }
        for channel in crowd { try await channel.closeFuture.get() }
        #expect(try await opens(path))
      }
    }
  }

  @Test("another user is refused, whatever the file's mode says")
  func otherUser() async throws {
    try await withServer(ServerOptions(derivesKeys: false)) { server in
      try await server.withControl(owner: geteuid() + 1) { path in
        let answer = try await answer(path, to: "")
        #expect(answer.contains("not yours"))
        #expect(await server.desk.status().window == .closed)
      }
    }
  }
}
