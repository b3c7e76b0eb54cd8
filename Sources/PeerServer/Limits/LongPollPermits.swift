import PeerProtocol
import Synchronization

/// A counter of the long-poll permits in use, by client; see ``ServingLimits/waits``.
final class LongPollPermits: Sendable {
  private let limits: ServingLimits
  private let taken = Mutex<[PeerID: Int]>([:])

  init(_ limits: ServingLimits) {
    self.limits = limits
  }

  /// Returns a long-poll permit, to be returned with ``Permit/release()``, or `nil` if all permits of the client or
  /// of the server are in use.
  func acquire(_ client: PeerID) -> Permit? {
    taken.withLock { taken in
      let mine = taken[client, default: 0]
      guard mine < limits.waitsPerClient, taken.values.reduce(0, +) < limits.waits else { return nil }
      taken[client] = mine + 1
      return Permit(permits: self, client: client)
    }
  }

  struct Permit {
    fileprivate let permits: LongPollPermits
    fileprivate let client: PeerID

    func release() {
      permits.taken.withLock { taken in
        let rest = taken[client, default: 1] - 1
        taken[client] = rest > 0 ? rest : nil
      }
    }
  }
}
