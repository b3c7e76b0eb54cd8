import Foundation
import HealthModel
import HealthStore
import OperatingSystem

/// Keeps a ``SyncDestination`` of HealthPush in step with a record, which keeps its position.
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
/// A destination that says it can (``SyncDestination/capabilities``) is given what has changed: in each call first what
/// was deleted, then what was added. Any other is given everything at once, in the order of time, whenever anything has
/// changed: what it wrote last is what the record holds.
///
/// A position is kept when ``SyncDestination/sync(data:onProgress:)`` has returned: what was interrupted comes again.
public struct SyncDestinationObserver: Sendable {
  /// The most points of a call where the destination says no other number.
  public static let defaultBatchSize = 1_000
  /// The most points that are passed on at once to a destination that is given everything, where nothing else is said:
  /// some 200 MB.
  public static let defaultMaximumPoints = 1_000_000

  /// What is passed on to.
  public let destination: any SyncDestination
  /// Which samples are meant.
  public let filter: SampleFilter
  /// What this observer's position in the record is called: two observers of one name are one.
  public var name: String { "sync:\(destination.id.uuidString)" }

  private let store: HealthStore
  private let maximumPoints: Int
  private let clock: any Clock<Duration>
  private let onProgress: (@Sendable (Int, Int) -> Void)?
  private let turnstile = Turnstile()

  /// - Parameters:
  ///   - filter: narrows what is passed on. Another than last time: what it adds is passed on, what it excludes stays.
  ///     It begins where it began the first time, until ``reset()``.
  ///   - maximumPoints: more are not passed on at once (``SyncDestinationError/tooManyPoints(name:limit:)``).
  ///   - clock: on which a failed attempt waits for the next.
  ///   - onProgress: handed to the destination.
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

  /// Passes on what is new. One at a time does: a second call waits for the first, and takes what came after.
  ///
  /// - Returns: what the destination has counted; zeros where nothing was new, or it is not enabled.
  /// - Throws: ``SyncFailure``, as the destination classifies what it has thrown, or `StoreError`.
  @discardableResult
  public func execute() async throws -> SyncStats {
    guard destination.isEnabled else { return SyncStats(processedCount: 0, newCount: 0) }
    return try await turnstile.pass {
      let consumer = try await consumer()
      return try await destination.capabilities.takesChanges ? passOnChanges(of: consumer) : passOnAll(of: consumer)
    }
  }

  /// Passes on what is new and then what happens, until the task is cancelled. What fails is tried again, after pauses
  /// that grow to a minute, unless it is permanent.
  ///
  /// - Throws: `StoreError` where the record cannot be read, and ``SyncFailure`` of what a person must change.
  public func observe() async throws {
    try await Observation.run(
      on: store, clock: clock, isFinal: { ($0 as? SyncFailure)?.category == .permanent }
    ) { try await execute() }
  }

  /// Forgets the position: everything is passed on again, of the time that the destination wants now, after it was asked
  /// to forget what it has (``SyncDestination/forgetAll()``).
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

  /// What is passed on from the time on that the destination wants now.
  private var firstFilter: SampleFilter {
    var filter = filter
    let start = destination.queryWindow(lastSyncedAt: nil, needsFullSync: true, now: Date()).start
    filter.earliest = [filter.earliest, Self.instant(start)].compactMap(\.self).max()
    return filter
  }

  /// `nil` for no bound.
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

  /// In changes: the fewer pages, the less often everything is passed on while the record changes.
  private static let pageSize = 100_000

  private func passOnAll(of consumer: FeedConsumer) async throws -> SyncStats {
    var stats = SyncStats(processedCount: 0, newCount: 0)
    var passedOn: (anchor: Anchor, epoch: Epoch)?
    for try await page in consumer.pages(ofAtMost: Self.pageSize) {
      // Read before all is: what is in this page, and in those that follow while the record stands there, is passed on with it.
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
