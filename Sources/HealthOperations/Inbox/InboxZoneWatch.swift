import Foundation
import HealthFormats
import HealthStore
import Synchronization

/// Reports, once for each sender, that a phone's clock does not match this machine's zone while no home zone is chosen:
/// the phone's days would be cut at the wrong midnights.
public final class InboxZoneWatch: Sendable {
  private let told = Mutex<Set<String>>([])
  private let current: @Sendable () -> TimeZone
  private let tell: @Sendable (_ sender: String, _ clock: ClockInBody) -> Void

  /// - Parameters:
  ///   - current: returns the zone of this machine.
  ///   - tell: called with the name of the sender and the time and offset that its body has.
  public init(
    current: @escaping @Sendable () -> TimeZone = { .current },
    tell: @escaping @Sendable (_ sender: String, _ clock: ClockInBody) -> Void
  ) {
    (self.current, self.tell) = (current, tell)
  }

  func heard(_ body: [UInt8], from sender: String, in store: HealthStore) async throws {
    // The search of the body comes last: it takes longest, and most homes have a zone.
    guard !told.withLock({ $0.contains(sender) }), try await store.settings.current().homeZone == nil,
      let clock = ClockInBody(body),
      current().secondsFromGMT(for: clock.date) != clock.offset, told.withLock({ $0.insert(sender).inserted })
    else { return }
    tell(sender, clock)
  }
}
