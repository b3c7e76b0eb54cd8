import NIOCore
import NIOPosix

/// Finds out which of a peer's addresses answers, without waiting for the dead ones (RFC 8305, section 5).
enum EndpointRace {
  /// How long an address may keep the next one waiting.
  static let head = Duration.milliseconds(250)

  private enum Event: Sendable {
    case answered(PeerEndpoint)
    case failed
    case nextMayStart
    case timeIsUp
  }

  /// The first endpoint that accepted a connection; `nil` if none did within `limit`. Nothing is sent.
  static func winner(of endpoints: [PeerEndpoint], within limit: Duration) async -> PeerEndpoint? {
    await withTaskGroup(of: Event.self) { group in
      defer { group.cancelAll() }
      group.addTask { await event(.timeIsUp, after: limit) }
      var running = 0
      var waiting = endpoints[...]
      func start() {
        guard let endpoint = waiting.popFirst() else { return }
        running += 1
        group.addTask { await accepts(endpoint, within: limit) ? .answered(endpoint) : .failed }
        if !waiting.isEmpty { group.addTask { await event(.nextMayStart, after: head) } }
      }
      start()
      while running > 0, let event = await group.next() {
        switch event {
        case .answered(let endpoint): return endpoint
        case .timeIsUp: return nil
        case .nextMayStart: start()
        case .failed:
          start()
          running -= 1
        }
      }
      return nil
    }
  }

  private static func event(_ event: Event, after delay: Duration) async -> Event {
    // Cancelled, it is not looked at any more.
    try? await Task.sleep(for: delay)
    return event
  }

  private static func accepts(_ endpoint: PeerEndpoint, within limit: Duration) async -> Bool {
    let attempt = ConnectAttempt()
    return await withTaskCancellationHandler {
      do {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
          .connectTimeout(TimeAmount(limit))
          .channelInitializer { channel in channel.eventLoop.makeCompletedFuture { try attempt.add(channel) } }
          .connect(host: endpoint.host, port: endpoint.port).get()
        channel.close(promise: nil)
        return true
      } catch {
        return false
      }
    } onCancel: {
      attempt.cancel()
    }
  }
}
