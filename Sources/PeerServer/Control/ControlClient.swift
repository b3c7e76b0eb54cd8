import Foundation
import NIOCore
import NIOPosix
import PeerTrust

/// Speaks to a server that runs on this machine.
public enum ControlClient {
  /// No server answers at the socket.
  public struct NoServer: Error, CustomStringConvertible {
    public let description =
      "No `hpeer serve` is running for this store on this machine: start it first, then run this again."
  }

  /// Opens a pairing window on the running server and reports what happens to it until it is gone.
  public static func openWindow(
    at path: String, scope: PeerScope? = nil, _ handle: (ControlEvent) async throws -> Void
  ) async throws {
    let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>
    do {
      channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(unixDomainSocketPath: path) { channel in
          channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
        }
    } catch {
      throw NoServer()
    }
    try await channel.executeThenClose { inbound, outbound in
      var line = ByteBuffer(bytes: try JSONEncoder().encode(ControlRequest.openWindow(scope: scope)))
      line.writeString("\n")
      try await outbound.write(line)
      var pending = ByteBuffer()
      for try await bytes in inbound {
        pending.writeImmutableBuffer(bytes)
        while let end = pending.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
          guard let line = pending.readBytes(length: end - pending.readerIndex + 1) else { break }
          try await handle(JSONDecoder().decode(ControlEvent.self, from: Data(line)))
        }
      }
    }
  }
}
