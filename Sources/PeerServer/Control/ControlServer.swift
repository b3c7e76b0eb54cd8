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

/// A service through which the owner's other processes open, close and query the pairing window, over a Unix socket
/// of mode 0600. A window opened here closes with its connection at the latest.
///
/// Opening a window through the socket is a local act because only the owner can connect: the file mode ensures that,
/// and the kernel is asked for the user of each connection.
public struct ControlServer: Service {
  private let path: String
  private let name: @Sendable () -> String?
  private let desk: PairingCoordinator
  private let events: PairingEvents
  private let payload: @Sendable (PairingCode, Date) throws -> PairingPayload
  private let metrics: MetricsAnswer
  private let logger: Logger
  private let owner: uid_t
  private let requestTimeout: Duration
  private let clock: any Clock<Duration>

  private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

  /// The maximum number of concurrent connections. A person opens one window at a time.
  private static let maximumConnections = 8

  /// - Parameters:
  ///   - name: returns the name that this machine announces now, or `nil`.
  ///   - metrics: returns the answer to `GET /metrics` over the socket, in the text format of Prometheus.
  ///   - payload: returns the pairing payload of a code and its expiry.
  public init(
    path: String, name: @escaping @Sendable () -> String?, desk: PairingCoordinator, events: PairingEvents,
    logger: Logger,
    metrics: @escaping @Sendable () async -> String = { "" },
    payload: @escaping @Sendable (PairingCode, Date) throws -> PairingPayload
  ) {
    self.init(
      path: path, name: name, desk: desk, events: events, logger: logger, owner: geteuid(), requestTimeout: .seconds(5),
      metrics: metrics, payload: payload)
  }

  /// - Parameters:
  ///   - owner: the only user whose requests are answered.
  ///   - requestTimeout: the time limit for a process to send its request.
  init(
    path: String, name: @escaping @Sendable () -> String?, desk: PairingCoordinator, events: PairingEvents,
    logger: Logger,
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
    // This process holds the lock of the store, so a socket here is left over from a dead server.
    unlink(path)
    let listener: NIOAsyncChannel<DisposableBox<Connection>, Never>
    do {
      listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelInitializer { $0.pipeline.addHandler(AcceptErrors()) }
        .bind(unixDomainSocketPath: path) { [requestTimeout] channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(RequestLine(timeout: TimeAmount(requestTimeout)))
            return DisposableBox(try Connection(wrappingChannelSynchronously: channel)) {
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
    // The other services keep running without the socket.
    try? await gracefulShutdown()
  }

  private func serve(_ connection: Connection) async {
    try? await connection.executeThenClose { inbound, outbound in
      guard let peer = await PeerCredentials.of(connection.channel), peer.user == owner else {
        logger.warning("another user of this machine tried to use the control socket")
        return try await send(.failed(message: "not yours"), outbound)
      }
      // Kept until the end: without a reader, the limit on further bytes would never apply.
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

  /// Runs `work` until it ends or the channel closes, then closes the channel.
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
    // Closes the window: either its end was reported, or the process that showed the code is gone.
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
    // Earlier events belong to a previous window.
    let opened = PairingEvent.windowOpened(expiresAt: window.expiresAt)
    for await event in stream.drop(while: { $0 != opened }).dropFirst() {
      switch event {
      case .windowOpened: return try await send(.closed(reason: "replaced"), outbound)
      case .codeRotated(let left):
        guard let digits = await desk.currentCode else { continue }
        try await send(try code(digits, window.expiresAt, attemptsLeft: left), outbound)
      // A client of the previous window may still be completing; that does not close this window.
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
