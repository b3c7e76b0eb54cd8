import Foundation
import Logging
import NIOCore
import NIOFoundationCompat
import NIOPosix
import PeerProtocol
import PeerTrust
import ServiceLifecycle

/// Lets the owner's other processes open a pairing window, through a Unix socket of mode 0600.
///
/// Only its owner can connect, which is what makes opening a window through it a local act.
public struct ControlServer: Service {
  private let path: String
  private let desk: PairingDesk
  private let events: PairingEvents
  private let payload: @Sendable (PairingCode, Date) throws -> PairingPayload
  private let logger: Logger

  /// - Parameter payload: what another machine needs beside the code.
  public init(
    path: String, desk: PairingDesk, events: PairingEvents, logger: Logger,
    payload: @escaping @Sendable (PairingCode, Date) throws -> PairingPayload
  ) {
    self.path = path
    self.desk = desk
    self.events = events
    self.payload = payload
    self.logger = logger
  }

  public func run() async throws {
    // The lock on the store says that no other server is alive, so a socket here is left over.
    unlink(path)
    let channel: NIOAsyncChannel<NIOAsyncChannel<ByteBuffer, ByteBuffer>, Never>
    do {
      channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .bind(unixDomainSocketPath: path) { channel in
          channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
        }
    } catch {
      logger.warning("no control socket at \(path), so `hpeer pair --wait` cannot reach this server: \(error)")
      try? await gracefulShutdown()
      return
    }
    chmod(path, 0o600)
    defer { unlink(path) }
    await cancelWhenGracefulShutdown {
      try? await channel.executeThenClose { connections in
        try await withThrowingDiscardingTaskGroup { group in
          for try await connection in connections {
            group.addTask { await serve(connection) }
          }
        }
      }
    }
  }

  private func serve(_ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>) async {
    try? await connection.executeThenClose { inbound, outbound in
      for try await bytes in inbound {
        guard let request = try? JSONDecoder().decode(ControlRequest.self, from: Data(bytes.readableBytesView)) else {
          try await send(.failed(message: "unknown request"), outbound)
          return
        }
        switch request {
        case .openWindow(let scope): try await openWindow(scope, outbound)
        }
        return
      }
    }
  }

  private func openWindow(_ scope: PeerScope?, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws {
    let stream = events.listen()
    let window: OpenWindow
    do {
      window = try await desk.open(scope: scope)
    } catch {
      return try await send(.failed(message: "\(error)"), outbound)
    }
    try await send(try code(window.code, window.expiresAt, attemptsLeft: nil), outbound)
    for await event in stream {
      switch event {
      // Ours is the first; any later one is somebody else's window in place of ours.
      case .windowOpened(let expiresAt) where expiresAt == window.expiresAt: continue
      case .windowOpened: return try await send(.closed(reason: "replaced"), outbound)
      case .codeRotated(let left):
        guard let digits = await desk.currentCode else { continue }
        try await send(try code(digits, window.expiresAt, attemptsLeft: left), outbound)
      case .succeeded(_, let name, _): return try await send(.paired(name: name), outbound)
      case .windowClosed(let reason): return try await send(.closed(reason: reason.rawValue), outbound)
      case .windowLocked: return try await send(.locked, outbound)
      case .failed: continue
      }
    }
    try await send(.closed(reason: "stopped"), outbound)
  }

  private func code(_ code: PairingCode, _ expiresAt: Date, attemptsLeft: Int?) throws -> ControlEvent {
    let payload = try payload(code, expiresAt)
    return .code(
      digits: code.digits, uri: payload.uri, json: payload.json, expiresAt: expiresAt, attemptsLeft: attemptsLeft)
  }

  private func send(_ event: ControlEvent, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws {
    var bytes = ByteBuffer(bytes: try JSONEncoder().encode(event))
    bytes.writeString("\n")
    try await outbound.write(bytes)
  }
}
