import PeerDiscovery
import PeerTrust

/// Ends a pause before its time when an app appears on the network: it may be open for two minutes a day.
struct AnnouncementWatch {
  private let server: ServerRecord
  private let finder: PeerFinder
  /// What was announced at the end of the last pause: no news.
  private var known: [DiscoveredService.ID: PeerEndpoint] = [:]

  /// - Parameter server: what is waited for; of an hpeer, which is there as a rule, nothing is listened to.
  init(of server: ServerRecord, _ finder: PeerFinder) {
    (self.server, self.finder) = (server, finder)
  }

  /// Waits so long, or until something is announced that was not when the last pause ended and may be the server.
  ///
  /// Throws `CancellationError` only: who cannot listen waits.
  mutating func pause(for duration: Duration) async throws {
    let clock = ClientNetwork.current.clock
    guard server.traits.isApp else { return try await clock.sleep(for: duration) }
    let (events, before) = (finder.announcements(), known)
    let present = await withTaskGroup(of: [DiscoveredService.ID: PeerEndpoint]?.self) { group in
      group.addTask {
        if let present = await Self.listen(to: events, before) { return present }
        // Nobody to listen to.
        try? await clock.sleep(for: duration)
        return nil
      }
      group.addTask {
        try? await clock.sleep(for: duration)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
    try Task.checkCancellation()
    if let present { known = present }
  }

  /// What is announced when something new is; `nil` where nothing more can be heard.
  private static func listen(
    to events: AsyncThrowingStream<BrowseEvent, any Error>, _ before: [DiscoveredService.ID: PeerEndpoint]
  ) async -> [DiscoveredService.ID: PeerEndpoint]? {
    var present = before
    do {
      for try await event in events {
        switch event {
        case .found(let service):
          let endpoint = PeerEndpoint(host: service.address, port: Int(service.port))
          guard DiscoveredPeer.isApp(service), present[service.id] != endpoint else { continue }
          present[service.id] = endpoint
          return present
        case .lost(let id): present[id] = nil
        default: continue
        }
      }
    } catch {}
    return nil
  }
}

extension PeerFinder {
  func announcements() -> AsyncThrowingStream<BrowseEvent, any Error> { browser.events() }
}

extension DiscoveredPeer {
  /// Whether a service may be an app's: only an hpeer announces an id.
  fileprivate static func isApp(_ service: DiscoveredService) -> Bool { service.txt["id"] == nil }
}
