import Foundation

/// A destination with HealthPush's interface, so that code written for HealthPush can follow a record: see
/// ``SyncDestinationObserver``.
///
/// A type conforms with either of two forms. The form in HealthPush's guide has ``sync(data:)``:
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
/// The form in HealthPush's code has ``sync(data:onProgress:)`` and declares its ``capabilities``. A destination
/// without declared capabilities is given the entire record whenever it has changed, because it cannot receive
/// deletions.
public protocol SyncDestination: Identifiable, Sendable where ID == UUID {
  /// The name of the destination's position in the record. Store it with the destination's other settings.
  var id: UUID { get }
  /// The name for people.
  var name: String { get }
  /// Whether the destination receives anything.
  var isEnabled: Bool { get }
  /// The capabilities. By default, everything is delivered at once: see
  /// ``SyncCapabilities/init(supportsIncremental:isIdempotent:isFireAndForget:maxBatchSize:)``.
  var capabilities: SyncCapabilities { get }

  /// Returns the time to deliver. Called once, before the first delivery: samples that start before
  /// ``QueryWindow/start`` are left out permanently. The end is ignored. The default is all time.
  func queryWindow(lastSyncedAt: Date?, needsFullSync: Bool, now: Date) -> QueryWindow

  /// Returns the time for HealthPush's sums of cumulative types. Never called, because single samples are delivered.
  func cumulativeQueryWindow(lastSyncedAt: Date?, now: Date) -> QueryWindow?

  /// Receives points, and returns when they are stored permanently. If it throws, all points are delivered again.
  func sync(data: [HealthDataPoint]) async throws

  /// Receives points like ``sync(data:)`` and reports its progress as the number of completed and of all points.
  func sync(data: [HealthDataPoint], onProgress: (@Sendable (Int, Int) -> Void)?) async throws -> SyncStats

  /// Removes all points received so far, because it is unknown which of them still exist in the record, for example
  /// after the record was replaced or after ``SyncDestinationObserver/reset()``. The entire record is delivered
  /// afterwards. The default implementation does nothing. Called only for destinations that receive changes.
  func forgetAll() async throws

  /// Returns whether the destination can be reached. For a person who sets it up; never called here.
  func testConnection() async throws -> Bool

  /// Returns the classification of an error of ``sync(data:onProgress:)``. The default is
  /// ``SyncFailure/classifyNetworkError(_:)``.
  func classifyError(_ error: any Error) -> SyncFailure
}

extension SyncDestination {
  /// The default capabilities, with which everything is delivered at once.
  public var capabilities: SyncCapabilities { SyncCapabilities() }

  /// Returns all time until now.
  public func queryWindow(lastSyncedAt: Date?, needsFullSync: Bool, now: Date) -> QueryWindow {
    QueryWindow(start: .distantPast, end: now)
  }

  /// Returns `nil`.
  public func cumulativeQueryWindow(lastSyncedAt: Date?, now: Date) -> QueryWindow? { nil }

  /// Does nothing: points are delivered again, and those that no longer exist in the record stay.
  public func forgetAll() async throws {}

  /// Returns ``SyncFailure/classifyNetworkError(_:)``.
  public func classifyError(_ error: any Error) -> SyncFailure { SyncFailure.classifyNetworkError(error) }

  /// Calls ``sync(data:onProgress:)``, which the type must then implement.
  public func sync(data: [HealthDataPoint]) async throws {
    _ = try await forwarding { try await sync(data: data, onProgress: nil) }
  }

  /// Calls ``sync(data:)``, which the type must then implement, and counts every point as new.
  public func sync(data: [HealthDataPoint], onProgress: (@Sendable (Int, Int) -> Void)?) async throws -> SyncStats {
    try await forwarding { try await sync(data: data) }
    onProgress?(data.count, data.count)
    return SyncStats(processedCount: data.count, newCount: data.count)
  }

  /// Calls `body`, unless the type implements neither function, which would cause infinite recursion.
  private func forwarding<Result>(_ body: () async throws -> Result) async throws -> Result {
    let own = SyncForwarding(type: ObjectIdentifier(Self.self), id: id)
    if SyncForwarding.current == own { throw SyncDestinationError.noSync(name) }
    return try await SyncForwarding.$current.withValue(own, operation: body)
  }
}

/// The destination whose default implementation is currently forwarding.
private struct SyncForwarding: Hashable, Sendable {
  @TaskLocal static var current: SyncForwarding?

  let type: ObjectIdentifier
  let id: UUID
}

/// The capabilities of a ``SyncDestination``.
public struct SyncCapabilities: Hashable, Sendable {
  /// Whether the destination accepts changes and keeps what it received earlier.
  public var supportsIncremental: Bool
  /// Whether the destination identifies points by their ``HealthDataPoint/id``, so that a repeated delivery has no
  /// effect.
  public var isIdempotent: Bool
  /// Whether the destination keeps only the latest points, such as a state, and has nothing to delete.
  public var isFireAndForget: Bool
  /// The maximum number of points per call, or `nil` for ``SyncDestinationObserver/defaultBatchSize``. Ignored if
  /// everything is delivered at once.
  public var maxBatchSize: Int?

  /// Creates capabilities.
  ///
  /// - Parameters: with neither `supportsIncremental` nor `isIdempotent`, the destination is given everything at once
  ///   whenever anything has changed. Otherwise it is given the changes, with deleted samples as points marked as
  ///   deleted unless it `isFireAndForget`.
  public init(
    supportsIncremental: Bool = false, isIdempotent: Bool = false, isFireAndForget: Bool = false,
    maxBatchSize: Int? = nil
  ) {
    self.supportsIncremental = supportsIncremental
    self.isIdempotent = isIdempotent
    self.isFireAndForget = isFireAndForget
    self.maxBatchSize = maxBatchSize
  }

  /// Whether the destination is given changes instead of everything.
  var takesChanges: Bool { supportsIncremental || isIdempotent }
}

/// A range of time.
public struct QueryWindow: Hashable, Sendable {
  /// The start, `Date.distantPast` for no limit.
  public var start: Date
  /// The exclusive end.
  public var end: Date

  /// Creates a window.
  ///
  /// - Parameter end: at or after `start`.
  public init(start: Date, end: Date) {
    self.start = start
    self.end = end
  }
}

/// The numbers of points that a ``SyncDestination`` has received.
public struct SyncStats: Hashable, Sendable {
  /// The number of points received.
  public var processedCount: Int
  /// The number of received points that the destination did not have before.
  public var newCount: Int

  /// Creates statistics.
  ///
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
