import Destinations
import Foundation
import HealthModel
import HealthStore
import OperatingSystem

/// Compares a destination with what it was given: before news is delivered, and again and again while a delivery goes on.
/// Of one that has lost everything, all of it is asked for again.
struct PlaceWatch<Place: Destination>: Sendable {
  /// What is asked for again is delivered at most so often: of a place that keeps nothing, it would never end.
  static var shortestRenewal: Int64 { 86_400 }

  let place: Place
  let section: DestinationSection
  let store: HealthStore
  /// Passed by deliveries, too.
  let turnstile: Turnstile

  /// Examines the place once.
  ///
  /// - Returns: what it had lost and what becomes of that, as the part of a sentence; `nil` where nothing.
  /// - Throws: `CourierError` where a person must change something first, `StoreError`. A place that cannot be reached is passed
  ///   over: a delivery tells of it.
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
        try await Resynchronization.request(section.consumer, from: nil, because: reason, in: store)
        return try await noted("\(reason): everything is delivered again", isWhole: true)
      }
    } catch DeliveryError.unusable(let reason) {
      throw CourierError.unusable(destination: section.consumer, reason: reason)
    } catch let error where error is CancellationError || error is StoreError {
      throw error
    } catch {
      // What is wrong with it keeps no news away: a delivery tells of it.
      return nil
    }
  }

  private func noted(_ reason: String, isWhole: Bool) async throws -> String {
    try await PlaceLoss(noticed: .now, reason: reason, isWhole: isWhole).keep(of: section.consumer, in: store)
    return reason
  }

  /// What is given back leaves this machine, as every delivery does.
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

  /// Examines the place every so often, until the task is cancelled.
  ///
  /// - Throws: as ``look()``.
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

/// What a destination had lost when it was last found to have lost something.
public struct PlaceLoss: Codable, Hashable, Sendable {
  /// When that was found out.
  public var noticed: Timestamp
  /// What, and what becomes of it, as the part of a sentence: `it had lost its sensors, and has it again`.
  public var reason: String
  /// Whether everything was asked for again.
  public var isWhole: Bool

  private static func activity(_ consumer: String) -> String { "loss:\(consumer)" }

  /// `nil` where nothing was ever lost.
  ///
  /// - Parameter consumer: of the destination.
  public static func last(of consumer: String, in store: HealthStore) async throws -> PlaceLoss? {
    guard let mark = try await store.activities.state(of: activity(consumer))?.mark else { return nil }
    return try? JSONDecoder().decode(PlaceLoss.self, from: Data(mark.utf8))
  }

  func keep(of consumer: String, in store: HealthStore) async throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let mark = String(decoding: try encoder.encode(self), as: UTF8.self)
    try await store.activities.setMark(mark, Self.activity(consumer))
  }

  static func forget(of consumer: String, in store: HealthStore) async throws {
    try await store.activities.remove(activity(consumer))
  }
}
