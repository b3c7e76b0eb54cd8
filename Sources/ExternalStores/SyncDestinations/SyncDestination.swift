import Foundation

/// A destination as HealthPush has it, so that one written for it can follow a record: see ``SyncDestinationObserver``.
///
/// There are two shapes of it, and a type conforms with either. That of HealthPush's guide has ``sync(data:)``:
///
/// ```swift
/// struct TotalDestination: SyncDestination {
///   let id = UUID()
///   var name = "Total"
///   var isEnabled = true
///
///   func sync(data: [HealthDataPoint]) async throws { print(data.count) }
///   func testConnection() async throws -> Bool { true }
/// }
/// ```
///
/// That of its code has ``sync(data:onProgress:)``, and says what it can take in ``capabilities``. A destination that
/// says nothing is given all that is in the record whenever that has changed, because it has no way to hear what was
/// deleted.
public protocol SyncDestination: Identifiable, Sendable where ID == UUID {
  /// Names the destination's position in the record: keep it where the destination's other settings are.
  var id: UUID { get }
  /// For a person.
  var name: String { get }
  /// Whether anything is passed on.
  var isEnabled: Bool { get }
  /// What it can take. By default, everything at once: see
  /// ``SyncCapabilities/init(supportsIncremental:isIdempotent:isFireAndForget:maxBatchSize:)``.
  var capabilities: SyncCapabilities { get }

  /// Which time is meant. Asked once, before the first point is passed on: what starts before its ``QueryWindow/start``
  /// is left out for good. All of it by default. Its end is not heeded: what comes later is what is waited for.
  func queryWindow(lastSyncedAt: Date?, needsFullSync: Bool, now: Date) -> QueryWindow

  /// The same for the sums that HealthPush makes of what accumulates. Never asked: samples are passed on as they are.
  func cumulativeQueryWindow(lastSyncedAt: Date?, now: Date) -> QueryWindow?

  /// Takes points, and returns once the other side has them for good. What it throws says that all of them are to come
  /// again.
  func sync(data: [HealthDataPoint]) async throws

  /// The same, saying how far it is: how many are done, of how many.
  func sync(data: [HealthDataPoint], onProgress: (@Sendable (Int, Int) -> Void)?) async throws -> SyncStats

  /// Forgets all points that it was given: which of them are still in the record is not known any more, as where
  /// the position is one of an old epoch, or after ``SyncDestinationObserver/reset()``. All that is there follows. By default
  /// it forgets nothing, and is given all of it again. Only asked of what takes changes.
  func forgetAll() async throws

  /// Whether it can be delivered to. For a person who sets it up: nothing here calls it.
  func testConnection() async throws -> Bool

  /// What an error of ``sync(data:onProgress:)`` means. ``SyncFailure/classifyNetworkError(_:)`` by default.
  func classifyError(_ error: any Error) -> SyncFailure
}

extension SyncDestination {
  /// None: it is given everything at once.
  public var capabilities: SyncCapabilities { SyncCapabilities() }

  /// All of the time until now.
  public func queryWindow(lastSyncedAt: Date?, needsFullSync: Bool, now: Date) -> QueryWindow {
    QueryWindow(start: .distantPast, end: now)
  }

  /// None of its own.
  public func cumulativeQueryWindow(lastSyncedAt: Date?, now: Date) -> QueryWindow? { nil }

  /// Nothing: everything comes again, and what is not in the record any more stays.
  public func forgetAll() async throws {}

  /// As ``SyncFailure/classifyNetworkError(_:)`` does.
  public func classifyError(_ error: any Error) -> SyncFailure { SyncFailure.classifyNetworkError(error) }

  /// Does what ``sync(data:onProgress:)`` does, which the type must have then.
  public func sync(data: [HealthDataPoint]) async throws {
    _ = try await forwarding { try await sync(data: data, onProgress: nil) }
  }

  /// Does what ``sync(data:)`` does, which the type must have then, and counts every point as new.
  public func sync(data: [HealthDataPoint], onProgress: (@Sendable (Int, Int) -> Void)?) async throws -> SyncStats {
    try await forwarding { try await sync(data: data) }
    onProgress?(data.count, data.count)
    return SyncStats(processedCount: data.count, newCount: data.count)
  }

  /// A type that has neither would go from one to the other for ever.
  private func forwarding<Result>(_ body: () async throws -> Result) async throws -> Result {
    let own = SyncForwarding(type: ObjectIdentifier(Self.self), id: id)
    if SyncForwarding.current == own { throw SyncDestinationError.noSync(name) }
    return try await SyncForwarding.$current.withValue(own, operation: body)
  }
}

/// Whose one function stands in for the other.
private struct SyncForwarding: Hashable, Sendable {
  @TaskLocal static var current: SyncForwarding?

  let type: ObjectIdentifier
  let id: UUID
}

/// What a ``SyncDestination`` can take.
public struct SyncCapabilities: Hashable, Sendable {
  /// It is told what is new, and keeps what it was told before.
  public var supportsIncremental: Bool
  /// It knows points by their ``HealthDataPoint/id``: what it is given twice is there once.
  public var isIdempotent: Bool
  /// It keeps only what it was told last, such as a state, and has nothing to delete.
  public var isFireAndForget: Bool
  /// The most points of one call; `nil` for ``SyncDestinationObserver/defaultBatchSize``. Not heeded where everything
  /// is passed on at once.
  public var maxBatchSize: Int?

  /// - Parameters: with neither `supportsIncremental` nor `isIdempotent`, the destination is given everything at once
  ///   whenever anything has changed. Else it is given what has changed: deleted samples as points that say so, unless
  ///   it
  ///   `isFireAndForget`.
  public init(
    supportsIncremental: Bool = false, isIdempotent: Bool = false, isFireAndForget: Bool = false,
    maxBatchSize: Int? = nil
  ) {
    self.supportsIncremental = supportsIncremental
    self.isIdempotent = isIdempotent
    self.isFireAndForget = isFireAndForget
    self.maxBatchSize = maxBatchSize
  }

  /// Whether it is given changes, and not everything.
  var takesChanges: Bool { supportsIncremental || isIdempotent }
}

/// A stretch of time.
public struct QueryWindow: Hashable, Sendable {
  /// `Date.distantPast` for no beginning.
  public var start: Date
  /// Not in the window any more.
  public var end: Date

  /// - Parameter end: at or after `start`.
  public init(start: Date, end: Date) {
    self.start = start
    self.end = end
  }
}

/// How much a ``SyncDestination`` has taken.
public struct SyncStats: Hashable, Sendable {
  /// Points that it was given.
  public var processedCount: Int
  /// Points among these that it did not have before.
  public var newCount: Int

  /// - Parameters: 0 or more.
  public init(processedCount: Int, newCount: Int) {
    self.processedCount = processedCount
    self.newCount = newCount
  }

  static func += (sum: inout SyncStats, other: SyncStats) {
    sum.processedCount += other.processedCount
    sum.newCount += other.newCount
  }
}
