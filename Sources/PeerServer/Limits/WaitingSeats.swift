import PeerProtocol
import Synchronization

/// Counts the long-poll permits that are in use, by client; see ``ServingLimits/waits``.
final class WaitingSeats: Sendable {
  private let limits: ServingLimits
  private let taken = Mutex<[PeerID: Int]>([:])

  init(_ limits: ServingLimits) {
    self.limits = limits
  }

  /// A long-poll permit, to be given back with ``Seat/leave()``; `nil` where the client's or all of them are in use.
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
