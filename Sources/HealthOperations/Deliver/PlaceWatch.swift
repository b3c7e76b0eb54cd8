import Destinations
import Foundation
import HealthModel
import HealthStore
import OperatingSystem

/// An examination of a destination for lost data: before changes are delivered, and periodically while a delivery
/// goes on. If a destination has lost everything, everything is delivered again.
struct PlaceWatch<Place: Destination>: Sendable {
  /// The shortest interval between two complete redeliveries, in seconds. Without it, a place that keeps nothing
  /// would receive everything in an endless loop.
  static var shortestRenewal: Int64 { 86_400 }

  let place: Place
  let section: DestinationSection
  let store: HealthStore
  /// A lock that deliveries pass, too, so that the place is not examined during a delivery.
  let turnstile: AsyncLock

  /// Examines the place once, and repairs or requests again what is missing.
  ///
  /// - Returns: a phrase with the loss and its remedy; `nil` if nothing was lost.
  /// - Throws: `CourierError` if a person must change something first, `StoreError`. Other errors are ignored,
  ///   because a delivery reports them.
  func look() async throws -> String? {
    do {
      switch try await attempt({ [place] in try await place.examine() }) {
      case .intact: return nil
      case .stale:
        try await mend(since: "its values are of another day, or not known")
        return nil
      case .incomplete(let loss):
        try await mend(since: loss)
        return try await noted("it had lost \(loss), and has it again", isWhole: false)
      case .lost(let reason):
        if try await isRenewed() { return nil }
        try await RedeliveryRequests.request(section.consumer, from: nil, because: reason, in: store)
        return try await noted("\(reason): everything is delivered again", isWhole: true)
      }
    } catch DeliveryError.unusable(let reason) {
      throw CourierError.unusable(destination: section.consumer, reason: reason)
    } catch let error where error is CancellationError || error is StoreError {
      throw error
    } catch {
      // The examination must not hold up a delivery, which reports the same error.
      return nil
    }
  }

  private func noted(_ reason: String, isWhole: Bool) async throws -> String {
    try await PlaceLoss(noticed: .now, reason: reason, isWhole: isWhole).keep(of: section.consumer, in: store)
    return reason
  }

  /// Repairs the place. This sends data to the destination, so it is recorded in the audit log like a delivery.
  private func mend(since reason: String) async throws {
    let detail = [
      "destination": section.consumer, "kind": Place.description.kind.rawValue, "again": "lost", "reason": reason,
    ]
    try await store.audit.record(AuditEvent(.deliveryStarted, detail))
    do {
      try await attempt { [place] in try await place.mend() }
    } catch {
      try await uncancelled { try await store.audit.record(AuditEvent(.deliveryFailed, detail)) }
      throw error
    }
    try await uncancelled { try await store.audit.record(AuditEvent(.deliveryFinished, detail)) }
  }

  private func attempt<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let deadline = place.capabilities.deadline
    return try await turnstile.pass {
      try await within(deadline, orThrow: DeliveryError.temporary(reason: "it did not answer within \(deadline)")) {
        try await body()
      }
    }
  }

  /// Examines the place periodically until the task is cancelled.
  ///
  /// - Throws: the errors of ``look()``.
  func run(clock: any Clock<Duration>, tell: @Sendable (String) -> Void) async throws {
    while true {
      try await clock.sleep(for: place.capabilities.examinationInterval)
      if let loss = try await look() { tell(loss) }
    }
  }

  private func isRenewed() async throws -> Bool {
    guard let loss = try await PlaceLoss.last(of: section.consumer, in: store), loss.isWhole else { return false }
    return Timestamp.now.seconds - loss.noticed.seconds < Self.shortestRenewal
  }
}

/// The most recent loss of data at a destination.
public struct PlaceLoss: ConsumerNote, Hashable, Sendable {
  /// The time at which the loss was noticed.
  public var noticed: Timestamp
  /// A phrase with the loss and its remedy: `it had lost its sensors, and has it again`.
  public var reason: String
  /// Whether everything is delivered again.
  public var isWhole: Bool

  package static let notePrefix = "loss"
}
