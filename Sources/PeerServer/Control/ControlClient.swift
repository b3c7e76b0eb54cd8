import Foundation
import Glibc
import HealthModel
import OperatingSystem
import NIOCore
import NIOPosix
import PeerTrust

/// A client of the control socket of a server on this machine.
public enum ControlClient {
  /// No server answers at the socket.
  public struct NoServer: Error, CustomStringConvertible {
    public let description =
      "No `hpeer serve` is running for this store on this machine: start it first, then run this again."
  }

  /// Opens a pairing window on the running server and reports its events until it closes. The window closes when this
  /// call ends, at the latest.
  public static func openWindow(
    at path: String, scope: SampleFilter? = nil, _ handle: (ControlEvent) async throws -> Void
  ) async throws {
    try await ask(.openWindow(scope: scope), at: path, handle)
  }

  /// Closes the pairing window on the running server.
  /// - Returns: whether a window was open.
  public static func closeWindow(at path: String) async throws -> Bool {
    switch try await answer(.closeWindow, at: path) {
    case .closed: true
    case .state: false
    case let other: throw Unexpected(other)
    }
  }

  /// Returns the state of the running server.
  ///
  /// - Throws: ``NoServer``, or ``Unexpected`` for a server of another version.
  public static func state(at path: String) async throws -> ServerState {
    let reply = try await answer(.state, at: path)
    guard case .state(let state)? = reply else { throw Unexpected(reply) }
    return state
  }

  /// An error for an unexpected reply: the server has another version, or refuses this user.
  public struct Unexpected: Error, CustomStringConvertible {
    let message: String?

    init(_ event: ControlEvent?) {
      message = if case .failed(let message)? = event { message } else { nil }
    }

    public var description: String {
      "The running server did not understand this\(message.map { " (\($0))" } ?? ""): start `hpeer serve` again with this version."
    }
  }

  private static func answer(_ request: ControlRequest, at path: String) async throws -> ControlEvent? {
    var first: ControlEvent?
    try await ask(request, at: path) { first = first ?? $0 }
    return first
  }

  private static func ask(
    _ request: ControlRequest, at path: String, _ handle: (ControlEvent) async throws -> Void
  ) async throws {
    // The socket is in this user's own directory, which contains no links, so a link is suspicious.
    if PrivateFile.isLink(path) { throw NoServer() }
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
      // In a directory where others may create files, another user could listen and show a code of their own.
      guard await PeerCredentials.of(channel.channel)?.user == geteuid() else { throw NoServer() }
      var line = ByteBuffer(bytes: try JSONEncoder().encode(request))
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
