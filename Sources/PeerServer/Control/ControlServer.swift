import Foundation
import HealthModel
import Logging
import NIOCore
import NIOFoundationCompat
import NIOPosix
import OperatingSystem
import PeerProtocol
import PeerTrust
import ServiceLifecycle

/// Lets the owner's other processes open and close a pairing window and ask about it, through a Unix socket of mode 0600.
/// A window that is opened here lasts no longer than the connection.
///
/// Only its owner can connect, which is what makes opening a window through it a local act: the file's mode says so, and
/// the kernel is asked for the user of each connection besides.
public struct ControlServer: Service {
  private let path: String
  private let name: @Sendable () -> String?
  private let desk: PairingDesk
  private let events: PairingEvents
  private let payload: @Sendable (PairingCode, Date) throws -> PairingPayload
  private let metrics: MetricsAnswer
  private let logger: Logger
  private let owner: uid_t
  private let requestTimeout: Duration
  private let clock: any Clock<Duration>

  private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

  /// Maximum concurrent connections: one person opens one window at a time.
  private static let maximumConnections = 8

  /// - Parameters:
  ///   - name: what this machine is announced as at the moment; `nil` if it is not.
  ///   - metrics: what `GET /metrics` over the socket is answered with, in the text format of Prometheus.
  ///   - payload: what another machine needs beside the code.
  public init(
    path: String, name: @escaping @Sendable () -> String?, desk: PairingDesk, events: PairingEvents, logger: Logger,
    metrics: @escaping @Sendable () async -> String = { "" },
    payload: @escaping @Sendable (PairingCode, Date) throws -> PairingPayload
  ) {
    self.init(
      path: path, name: name, desk: desk, events: events, logger: logger, owner: geteuid(), requestTimeout: .seconds(5),
      metrics: metrics, payload: payload)
  }

  /// - Parameters:
  ///   - owner: the only user who is answered.
  ///   - requestTimeout: how long a process may take to say what it wants.
  init(
    path: String, name: @escaping @Sendable () -> String?, desk: PairingDesk, events: PairingEvents, logger: Logger,
    owner: uid_t, requestTimeout: Duration, clock: any Clock<Duration> = ContinuousClock(),
    metrics: @escaping @Sendable () async -> String = { "" },
    payload: @escaping @Sendable (PairingCode, Date) throws -> PairingPayload
  ) {
    self.owner = owner
    self.clock = clock
    self.requestTimeout = requestTimeout
    self.path = path
    self.name = name
    self.desk = desk
    self.events = events
    self.payload = payload
    self.logger = logger
    self.metrics = MetricsAnswer(metrics: metrics)
  }

  public func run() async throws {
    // The lock on the store says that no other server is alive, so a socket here is left over.
    unlink(path)
    let listener: NIOAsyncChannel<HandedOver<Connection>, Never>
    do {
      listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelInitializer { $0.pipeline.addHandler(AcceptErrors()) }
        .bind(unixDomainSocketPath: path) { [requestTimeout] channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(RequestLine(timeout: TimeAmount(requestTimeout)))
            return HandedOver(try Connection(wrappingChannelSynchronously: channel)) {
              try await $0.executeThenClose { _, _ in }
            }
          }
        }
    } catch {
      logger.warning(
        "no control socket at \(path), so `hpeer pair --wait` cannot reach this server: \(networkReason(error))")
      try? await gracefulShutdown()
      return
    }
    chmod(path, 0o600)
    defer { unlink(path) }
    await cancelWhenGracefulShutdown {
      await listener.serveEach(atMost: Self.maximumConnections) { await serve($0) }
    }
    // Without the socket the rest still serves.
    try? await gracefulShutdown()
  }

  private func serve(_ connection: Connection) async {
    try? await connection.executeThenClose { inbound, outbound in
      guard let peer = await PeerCredentials.of(connection.channel), peer.user == owner else {
        logger.warning("another user of this machine tried to use the control socket")
        return try await send(.failed(message: "not yours"), outbound)
      }
      // Kept to the end: without a reader nothing would notice how much else is sent.
      var lines = inbound.makeAsyncIterator()
      guard let line = try await lines.next() else { return }
      let text = String(buffer: line).trimmingCharacters(in: .newlines)
      if let answer = await metrics.answer(to: text) {
        return try await outbound.write(ByteBuffer(string: answer))
      }
      switch try? JSONDecoder().decode(ControlRequest.self, from: Data(line.readableBytesView)) {
      case nil: try await send(.failed(message: "unknown request"), outbound)
      case .openWindow(let scope):
        try await untilClosed(connection.channel) {
          try await openWindow(scope, by: .process(peer.process), outbound)
        }
      case .closeWindow:
        let isClosed = await desk.close()
        let reason = PairingEvent.CloseReason.closedLocally.rawValue
        try await send(isClosed ? .closed(reason: reason) : .state(await state()), outbound)
      case .state: try await send(.state(await state()), outbound)
      }
      withExtendedLifetime(lines) {}
    }
  }

  /// Runs `work` for as long as somebody is there to see what comes of it, then closes the channel.
  private func untilClosed(_ channel: any Channel, _ work: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { channel.close(promise: nil) }
        try await work()
      }
      group.addTask { try await channel.closeFuture.get() }
      try await group.next()
      group.cancelAll()
    }
  }

  private func state() async -> ServerState {
    let status = await desk.status()
    let window: ServerState.Window =
      switch status.window {
      case .closed: .closed
      case .locked: .locked
      case .open(let expiresAt, let attemptsLeft):
        .open(
          .init(
            expiresAt: Self.instant(expiresAt), attemptsLeft: WireCount(clamping: attemptsLeft), scope: status.scope,
            process: status.opener?.process))
      }
    return ServerState(process: getpid(), name: name(), window: window)
  }

  private static func instant(_ date: Date) -> WireInstant { WireInstant(clamping: date.timeIntervalSince1970) }

  private func openWindow(
    _ scope: SampleFilter?, by opener: WindowOpener, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  ) async throws {
    let stream = events.listen()
    let window: OpenWindow
    do {
      window = try await desk.open(scope: scope, by: opener)
    } catch {
      return try await send(.failed(message: "\(error)"), outbound)
    }
    do {
      try await report(window, stream, outbound)
    } catch {
      await desk.close(window.number, because: .openerGone)
      throw error
    }
    // Its end was told, or there is nobody left to tell, and nobody who sees the code.
    await desk.close(window.number, because: .openerGone)
  }

  private func report(
    _ window: OpenWindow, _ stream: AsyncStream<PairingEvent>,
    _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  ) async throws {
    try await send(try code(window.code, window.expiresAt, attemptsLeft: nil), outbound)
    var client = ""
    var noise = EventRateLimiter()
    let elapsed = clock.stopwatch()
    // What was told before ours opened is about a window before it.
    let opened = PairingEvent.windowOpened(expiresAt: window.expiresAt)
    for await event in stream.drop(while: { $0 != opened }).dropFirst() {
      switch event {
      case .windowOpened: return try await send(.closed(reason: "replaced"), outbound)
      case .codeRotated(let left):
        guard let digits = await desk.currentCode else { continue }
        try await send(try code(digits, window.expiresAt, attemptsLeft: left), outbound)
      // A client of the window before may still be on its way into the store: that closes no window of ours.
      case .succeeded(_, let name, _): client = name
      case .windowClosed(.paired): return try await send(.paired(name: client), outbound)
      case .windowClosed(let reason): return try await send(.closed(reason: reason.rawValue), outbound)
      case .windowLocked: return try await send(.locked, outbound)
      case .failed: continue
      case .keptOut(let caller, let holders):
        guard noise.admit("keptOut", at: elapsed()) != nil else { continue }
        try await send(.keptOut(address: caller, holders: holders), outbound)
      }
    }
    try await send(.closed(reason: "stopped"), outbound)
  }

  private func code(_ code: PairingCode, _ expiresAt: Date, attemptsLeft: Int?) throws -> ControlEvent {
    let payload = try payload(code, expiresAt)
    return .code(
      digits: code.digits, uri: payload.uri, json: payload.json, expiresAt: Self.instant(expiresAt),
      attemptsLeft: attemptsLeft.map { WireCount(clamping: $0) }, name: name())
  }

  private func send(_ event: ControlEvent, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws {
    var bytes = ByteBuffer(bytes: try JSONEncoder().encode(event))
    bytes.writeString("\n")
    try await outbound.write(bytes)
  }
}
