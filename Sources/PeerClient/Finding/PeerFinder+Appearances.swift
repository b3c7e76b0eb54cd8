import PeerDiscovery
import PeerTrust

extension PeerFinder {
  /// Tells each time that a paired machine comes onto the network, and once where it is there already: an hpeer by the id
  /// that it announces, an app by its certificate, which is all that it has.
  ///
  /// Ends when its reader's task is cancelled; throws `DiscoveryError` where nothing can be heard.
  public func appearances(of server: ServerRecord) -> AsyncThrowingStream<Void, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let task = Task {
        var present: Set<DiscoveredService.ID> = []
        do {
          for try await event in browser.events(preferring: { DiscoveredPeer.isInstance($0, of: server.name) }) {
            switch event {
            case .found(let service):
              guard !present.contains(service.id), await isAnnounced(server, by: service) else { continue }
              if present.isEmpty { continuation.yield() }
              present.insert(service.id)
            case .lost(let id): present.remove(id)
            default: continue
            }
          }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  private func isAnnounced(_ server: ServerRecord, by service: DiscoveredService) async -> Bool {
    let peer = DiscoveredPeer(service)
    if let id = peer.id { return id == server.id }
    guard server.traits.isApp, let endpoint = peer.endpoints.first else { return false }
    return await isApp(server, at: endpoint)
  }
}
