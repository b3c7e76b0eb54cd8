import PeerProtocol
import Synchronization

/// Counts the requests that wait for changes, by client.
final class WaitingSeats: Sendable {
  private let limits: ServingLimits
  private let taken = Mutex<[PeerID: Int]>([:])

  init(_ limits: ServingLimits) {
    self.limits = limits
  }

  /// A seat that must be left, or `nil` where there are as many waiting as may.
  func take(_ client: PeerID) -> Seat? {
    taken.withLock { taken in
      let mine = taken[client, default: 0]
      guard mine < limits.waitsPerClient, taken.values.reduce(0, +) < limits.waits else { return nil }
      taken[client] = mine + 1
      return Seat(seats: self, client: client)
    }
  }

  struct Seat {
    fileprivate let seats: WaitingSeats
    fileprivate let client: PeerID

    func leave() {
      seats.taken.withLock { taken in
        let rest = taken[client, default: 1] - 1
        taken[client] = rest > 0 ? rest : nil
      }
    }
  }
}
