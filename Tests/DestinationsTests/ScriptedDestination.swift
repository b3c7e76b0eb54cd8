import Destinations
import Foundation
import HealthModel
import Synchronization

/// A destination that stores samples by UUID and fails on demand.
final class ScriptedDestination: Destination {
  static let description = DestinationDescription(
    DestinationKind("scripted"), "Does as it is told.", repetition: .idempotent, fields: [])
  let capabilities: DestinationCapabilities
  /// A closure called before each delivery with the number of the attempt, starting at 0.
  private let before: @Sendable (Int, DeliveryBatch) async throws -> Void
  /// A closure called after the batch was stored. If it throws, the acknowledgement is lost.
  private let after: @Sendable (Int, DeliveryBatch) async throws -> Delivery

  struct State {
    var samples: [UUID: Sample] = [:]
    var keys: [DeliveryKey] = []
    /// The samples that came with each of the keys.
    var additions: [Set<UUID>] = []
    /// The number of samples that came although they were already stored.
    var repetitions = 0
  }

  private let state = Mutex(State())
  var seen: State { state.withLock { $0 } }

  init(
    _ capabilities: DestinationCapabilities = DestinationCapabilities(
      maximumChanges: 10, deadline: .seconds(1_000_000)),
    before: @escaping @Sendable (Int, DeliveryBatch) async throws -> Void = { _, _ in },
    after: @escaping @Sendable (Int, DeliveryBatch) async throws -> Delivery = { _, _ in Delivery() }
  ) {
    self.capabilities = capabilities
    self.before = before
    self.after = after
  }

  convenience init(_ settings: DestinationSettings, in environment: DestinationEnvironment) { self.init() }

  func check() {}

  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery {
    let attempt = state.withLock { state in
      state.keys.append(key)
      state.additions.append(Set(batch.changes.samples.map(\.uuid)))
      return state.keys.count - 1
    }
    try await before(attempt, batch)
    let additions = try batch.additions()
    state.withLock { state in
      if batch.startsOver { state.samples = [:] }
      for tombstone in batch.deletions { state.samples[tombstone.sample.uuid] = nil }
      for sample in additions {
        if state.samples.updateValue(sample, forKey: sample.uuid) != nil { state.repetitions += 1 }
      }
    }
    return try await after(attempt, batch)
  }
}

/// A clock whose sleeps return at once and whose deadlines never pass.
final class RecordingClock: Clock {
  struct Instant: InstantProtocol {
    var time: Duration

    func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }
    func duration(to other: Instant) -> Duration { other.time - time }
    static func < (first: Instant, second: Instant) -> Bool { first.time < second.time }
  }

  private let state = Mutex((time: Duration.zero, pauses: [Duration]()))

  var now: Instant { Instant(time: state.withLock(\.time)) }
  var minimumResolution: Duration { .nanoseconds(1) }
  var pauses: [Duration] { state.withLock(\.pauses) }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let pause = now.duration(to: deadline)
    guard pause < .seconds(100_000) else { return try await Task.sleep(for: .seconds(100_000)) }
    state.withLock { state in
      state.time += pause
      state.pauses.append(pause)
    }
  }
}
