import PeerDiscovery
import PeerTrust
import Synchronization

/// A pause that ends early when an app appears on the network, because an app may be open for only two minutes a day.
struct AnnouncementWatch {
  private let server: ServerRecord
  private let finder: PeerFinder
  /// The current announcements as far as they were received. They do not end a pause.
  private let known = Known()

  private final class Known: Sendable {
    private let endpoints = Mutex<[DiscoveredService.ID: PeerEndpoint]>([:])

    /// Adds an announcement. Returns whether it or its endpoint is new.
    func add(_ service: DiscoveredService) -> Bool {
      let endpoint = PeerEndpoint(host: service.address, port: Int(service.port))
      return endpoints.withLock { endpoints in
        defer { endpoints[service.id] = endpoint }
        return endpoints[service.id] != endpoint
      }
    }

    func remove(_ id: DiscoveredService.ID) { endpoints.withLock { $0[id] = nil } }
  }

  /// - Parameter server: the server to wait for. Announcements are only watched for apps, because an hpeer is usually
  ///   reachable.
  init(of server: ServerRecord, _ finder: PeerFinder) {
    (self.server, self.finder) = (server, finder)
  }

  /// Waits for the duration, or until an app that may be the server is newly announced.
  ///
  /// Throws only `CancellationError`. If announcements can't be received, it waits for the duration.
  func pause(for duration: Duration) async throws {
    let clock = ClientNetwork.current.clock
    guard server.traits.isApp else { return try await clock.sleep(for: duration) }
    let (events, known) = (finder.announcements(), known)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        if await Self.isNews(events, known) { return }
        // Announcements can't be received.
        try? await clock.sleep(for: duration)
      }
      group.addTask { try? await clock.sleep(for: duration) }
      await group.next()
      group.cancelAll()
    }
    try Task.checkCancellation()
  }

  /// Returns `true` when an app is newly announced, or `false` when no more announcements can be received.
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
  /// Returns whether a service may be an app's: only hpeer announces an ID.
  fileprivate static func isApp(_ service: DiscoveredService) -> Bool { service.txt["id"] == nil }
}
