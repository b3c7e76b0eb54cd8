import Foundation
import HealthModel
import HealthStore
import OperatingSystem

/// An observer that keeps a ``SyncDestination`` of HealthPush in sync with a record, which stores its position.
///
/// ```swift
/// func follow(_ record: HealthStore, to destination: some SyncDestination) async throws {
///   guard try await destination.testConnection() else { return }
///   let observer = SyncDestinationObserver(
///     store: record, destination: destination,
///     filter: SampleFilter(types: [SampleType("HKQuantityTypeIdentifierStepCount")]))
///   try await observer.execute()  // what is new
///   try await observer.observe()  // and what happens, until the task is cancelled
/// }
/// ```
///
/// A destination that declares support (``SyncDestination/capabilities``) is given the changes: in each call first
/// the deleted points, then the added ones. Any other destination is given everything at once, in order of time,
/// whenever anything has changed, so that its last call reflects the record.
///
/// The position advances when ``SyncDestination/sync(data:onProgress:)`` has returned. Interrupted deliveries are
/// repeated.
public struct SyncDestinationObserver: Sendable {
  /// The default maximum number of points per call.
  public static let defaultBatchSize = 1_000
  /// The default maximum number of points for a destination that is given everything at once, about 200 MB.
  public static let defaultMaximumPoints = 1_000_000

  /// The destination.
  public let destination: any SyncDestination
  /// The filter of the delivered samples.
  public let filter: SampleFilter
  /// The name of this observer's position in the record. Observers with the same name share a position.
  public var name: String { "sync:\(destination.id.uuidString)" }

  private let store: HealthStore
  private let maximumPoints: Int
  private let clock: any Clock<Duration>
  private let onProgress: (@Sendable (Int, Int) -> Void)?
  private let turnstile = AsyncLock()

  /// Creates an observer.
  ///
  /// - Parameters:
  ///   - filter: restricts the delivered samples. If it differs from the last time, samples that it adds are
  ///     delivered, and points that it excludes stay. Its start remains that of the first time until ``reset()``.
  ///   - maximumPoints: the maximum number of points to deliver at once
  ///     (``SyncDestinationError/tooManyPoints(name:limit:)``).
  ///   - clock: the clock for the pauses after failed attempts.
  ///   - onProgress: passed to the destination.
  public init(
    store: HealthStore, destination: any SyncDestination, filter: SampleFilter = .everything,
    maximumPoints: Int = defaultMaximumPoints, clock: any Clock<Duration> = ContinuousClock(),
    onProgress: (@Sendable (Int, Int) -> Void)? = nil
  ) {
    self.store = store
    self.destination = destination
    self.filter = filter
    self.maximumPoints = maximumPoints
    self.clock = clock
    self.onProgress = onProgress
  }

  /// Delivers pending changes. Executions are serialized: a second call waits for the first and delivers what was
  /// added since.
  ///
  /// - Returns: the numbers that the destination reported, zeros if there were no changes or it is not enabled.
  /// - Throws: ``SyncFailure``, as the destination classifies its errors, or `StoreError`.
  @discardableResult
  public func execute() async throws -> SyncStats {
    guard destination.isEnabled else { return SyncStats(processedCount: 0, newCount: 0) }
    return try await turnstile.pass {
      let consumer = try await consumer()
      return try await destination.capabilities.takesChanges ? passOnChanges(of: consumer) : passOnAll(of: consumer)
    }
  }

  /// Delivers pending changes and then each new change, until the task is cancelled. Failures are retried after
  /// pauses that grow to a minute, unless they are permanent.
  ///
  /// - Throws: `StoreError` if the record cannot be read, and ``SyncFailure`` for errors that a person must fix.
  public func observe() async throws {
    try await Observation.run(
      on: store, clock: clock, isFinal: { ($0 as? SyncFailure)?.category == .permanent }
    ) { try await execute() }
  }

  /// Forgets the position. The destination is asked to remove everything (``SyncDestination/forgetAll()``), and the
  /// entire record is delivered again for the time that the destination now requests.
  public func reset() async throws {
    try await turnstile.pass { try await store.startConsumerOver(name, with: firstFilter) }
  }

  // MARK: Positions

  private func consumer() async throws -> FeedConsumer {
    let name = name
    var filter = filter
    if let known = try await store.consumers().first(where: { $0.name == name }) {
      filter.earliest = known.filter.earliest
    } else {
      filter = firstFilter
    }
    return try await store.consumer(name, filter: filter)
  }

  /// The filter of a new position, limited to the time that the destination now requests.
  private var firstFilter: SampleFilter {
    var filter = filter
    let start = destination.queryWindow(lastSyncedAt: nil, needsFullSync: true, now: Date()).start
    filter.earliest = [filter.earliest, Self.instant(start)].compactMap(\.self).max()
    return filter
  }

  /// Returns the instant, or `nil` for no bound.
  private static func instant(_ date: Date) -> Timestamp? {
    guard date > .distantPast else { return nil }
    return Int64(exactly: date.timeIntervalSince1970.rounded(.down)).map(Timestamp.init(seconds:))
  }

  // MARK: What has changed

  private func passOnChanges(of consumer: FeedConsumer) async throws -> SyncStats {
    let capabilities = destination.capabilities
    let size = max(1, capabilities.maxBatchSize ?? Self.defaultBatchSize)
    var stats = SyncStats(processedCount: 0, newCount: 0)
    for try await page in consumer.pages(ofAtMost: size) {
      if page.startsOver { try await classifyingErrors { try await destination.forgetAll() } }
      var points = capabilities.isFireAndForget ? [] : page.deletions.map(HealthDataPoint.init)
      points += try page.additions().map(HealthDataPoint.init)
      if !points.isEmpty { stats += try await sync(points) }
      try await consumer.commit(page)
    }
    try Task.checkCancellation()
    return stats
  }

  // MARK: Everything

  /// The number of changes per page. With fewer pages, everything is delivered less often while the record changes.
  private static let pageSize = 100_000

  private func passOnAll(of consumer: FeedConsumer) async throws -> SyncStats {
    var stats = SyncStats(processedCount: 0, newCount: 0)
    var passedOn: (anchor: Anchor, epoch: Epoch)?
    for try await page in consumer.pages(ofAtMost: Self.pageSize) {
      // Read the position before all points: this delivery then covers this page and the following ones until the
      // record changes.
      let position = try await store.feed.currentPosition()
      if passedOn?.anchor != position.anchor || passedOn?.epoch != position.epoch {
        stats += try await sync(try await allPoints(consumer.filter))
        passedOn = position
      }
      try await consumer.commit(page)
    }
    try Task.checkCancellation()
    return stats
  }

  private func allPoints(_ filter: SampleFilter) async throws -> [HealthDataPoint] {
    var points: [HealthDataPoint] = []
    for count in try await store.samples.typeCounts() where filter.passes(count.type) {
      var last: SampleReference?
      while true {
        let changes = try await store.samples.codedPage(
          of: count.type, in: filter.range, from: filter.sources, after: last, limit: FeedConsumer.defaultPageSize)
        guard !changes.samples.isEmpty else { break }
        let expander = try ChangeExpander(changes)
        for row in changes.samples {
          let sample = try expander.sample(row)
          points.append(HealthDataPoint(sample))
          last = sample.reference
        }
        guard points.count <= maximumPoints else {
          throw destination.classifyError(
            SyncDestinationError.tooManyPoints(name: destination.name, limit: maximumPoints))
        }
        try Task.checkCancellation()
      }
    }
    return points.sorted { ($0.startDate, $0.id.uuidString) < ($1.startDate, $1.id.uuidString) }
  }

  private func sync(_ points: [HealthDataPoint]) async throws -> SyncStats {
    try await classifyingErrors { try await destination.sync(data: points, onProgress: onProgress) }
  }

  private func classifyingErrors<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch {
      throw destination.classifyError(error)
    }
  }
}
