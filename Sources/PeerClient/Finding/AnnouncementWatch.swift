import PeerDiscovery
import PeerTrust
import Synchronization

/// Ends a pause before its time when an app appears on the network: it may be open for two minutes a day.
struct AnnouncementWatch {
  private let server: ServerRecord
  private let finder: PeerFinder
  /// What is announced, as far as was heard: no news.
  private let known = Known()

  private final class Known: Sendable {
    private let endpoints = Mutex<[DiscoveredService.ID: PeerEndpoint]>([:])

    /// Whether it was not announced there before.
    func add(_ service: DiscoveredService) -> Bool {
      let endpoint = PeerEndpoint(host: service.address, port: Int(service.port))
      return endpoints.withLock { endpoints in
        defer { endpoints[service.id] = endpoint }
        return endpoints[service.id] != endpoint
      }
    }

    func remove(_ id: DiscoveredService.ID) { endpoints.withLock { $0[id] = nil } }
  }

  /// - Parameter server: what is waited for; of an hpeer, which is there as a rule, nothing is listened to.
  init(of server: ServerRecord, _ finder: PeerFinder) {
    (self.server, self.finder) = (server, finder)
  }

  /// Waits so long, or until something is announced that was not when the last pause ended and may be the server.
  ///
  /// Throws `CancellationError` only: who cannot listen waits.
  func pause(for duration: Duration) async throws {
    let clock = ClientNetwork.current.clock
    guard server.traits.isApp else { return try await clock.sleep(for: duration) }
    let (events, known) = (finder.announcements(), known)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        if await Self.isNews(events, known) { return }
        // Nobody to listen to.
        try? await clock.sleep(for: duration)
      }
      group.addTask { try? await clock.sleep(for: duration) }
      await group.next()
      group.cancelAll()
    }
    try Task.checkCancellation()
  }

  /// Returns when something new is announced; `false` where nothing more can be heard.
  private static func isNews(_ events: AsyncThrowingStream<BrowseEvent, any Error>, _ known: Known) async -> Bool {
    do {
      for try await event in events {
        switch event {
        case .found(let service): if DiscoveredPeer.isApp(service), known.add(service) { return true }
        case .lost(let id): known.remove(id)
        default: continue
        }
      }
    } catch {}
    return false
  }
}

extension PeerFinder {
  func announcements() -> AsyncThrowingStream<BrowseEvent, any Error> { browser.events() }
}

extension DiscoveredPeer {
  /// Whether a service may be an app's: only an hpeer announces an id.
  fileprivate static func isApp(_ service: DiscoveredService) -> Bool { service.txt["id"] == nil }
}
