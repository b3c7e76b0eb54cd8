import PeerDiscovery
import PeerTrust

extension PeerFinder {
  /// The number of attempts to reach a newly announced app, which may be announced a moment before it answers.
  private static let attempts = 3

  /// Returns a stream that yields each time a paired machine appears on the network, and once if it is already there.
  /// An hpeer is recognized by its announced ID, an app by its certificate, because it announces no ID.
  ///
  /// The stream ends when its reader's task is cancelled, and throws `DiscoveryError` if announcements can't be
  /// received.
  public func appearances(of server: ServerRecord) -> AsyncThrowingStream<Void, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let task = Task {
        var present: [DiscoveredService.ID: UInt16] = [:]
        var port: UInt16?
        do {
          for try await event in browser.events(preferring: { DiscoveredPeer.isInstance($0, of: server.name) }) {
            switch event {
            case .found(let service):
              // With another port, the server was away in between, even if that was not announced.
              guard present[service.id] != service.port, await isAnnounced(server, by: service) else { continue }
              if present.isEmpty || port != service.port { continuation.yield() }
              (present[service.id], port) = (service.port, service.port)
            case .lost(let id): present[id] = nil
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
    guard server.traits.isApp else { return false }
    for attempt in 1...Self.attempts {
      if await speakers(among: [peer], paired: [server]).first?.isPaired == true { return true }
      if attempt < Self.attempts { try? await ClientNetwork.current.clock.sleep(for: .seconds(1)) }
    }
    return false
  }
}
