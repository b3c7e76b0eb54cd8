import Foundation
import HealthModel
import HealthStore
import OperatingSystem

/// An observer that keeps samples of one type in sync with an external store. The record stores its position, which
/// advances only when the external store has the whole batch.
///
/// ```swift
/// func follow(_ store: HealthStore, to synchronizer: some ObjectSynchronizer) async throws {
///   let observer = try QueryObserver(store: store, synchronizer: synchronizer)
///   try await observer.execute()  // what is new
///   try await observer.observe()  // and what happens, until the task is cancelled
/// }
/// ```
public struct QueryObserver: Sendable {
  /// The default maximum number of changes in a batch.
  public static let defaultBatchSize = 25

  /// The type that creates objects from samples.
  public let externalObjectType: any ExternalObject.Type
  /// The observed sample type.
  public let healthKitObjectType: SampleType
  /// The filter of the observed samples.
  public let queryPredicate: SampleFilter
  /// The name of this observer's position in the record. Observers with the same name share a position.
  public var name: String { "external:\(synchronizer.externalStore.name):\(healthKitObjectType.rawValue)" }

  private let store: HealthStore
  private let synchronizer: any ObjectSynchronizer
  private let delegate: (any QueryObserverDelegate)?
  private let clock: any Clock<Duration>
  private let turnstile = AsyncLock()

  /// Creates an observer.
  ///
  /// - Parameters:
  ///   - queryPredicate: restricts the observed samples by time and source. If it differs from the last time, samples
  ///     that it adds are delivered, and objects that it excludes stay.
  ///   - clock: the clock for the pauses after failed batches.
  /// - Throws: ``ExternalStoreError/noSpecifiedTypes``
  public init(
    store: HealthStore, synchronizer: any ObjectSynchronizer, queryPredicate: SampleFilter = .everything,
    delegate: (any QueryObserverDelegate)? = nil, clock: any Clock<Duration> = ContinuousClock()
  ) throws(ExternalStoreError) {
    guard let type = synchronizer.externalObjectType.healthKitObjectType() else { throw .noSpecifiedTypes }
    externalObjectType = synchronizer.externalObjectType
    healthKitObjectType = type
    self.queryPredicate = queryPredicate
    self.store = store
    self.synchronizer = synchronizer
    self.delegate = delegate
    self.clock = clock
  }

  /// The time of the last delivery, or `nil` if there was none.
  public var lastSuccessfulExecutionDate: Date? {
    get async throws(StoreError) {
      let name = name
      guard let position = try await store.consumers().first(where: { $0.name == name }), position.anchor != .zero
      else { return nil }
      return Date(timeIntervalSince1970: Double(position.updated.microseconds) / 1_000_000)
    }
  }

  /// Delivers pending changes, batch by batch. Executions are serialized: a second call waits for the first and
  /// delivers what was added since.
  ///
  /// - Returns: false if the delegate did not allow it.
  /// - Throws: the error of the synchronizer or the store. Batches that were delivered before stay; the rest follows
  ///   next time.
  @discardableResult
  public func execute() async throws -> Bool {
    try await turnstile.pass {
      guard await delegate?.shouldExecute(for: self) ?? true else {
        await delegate?.didFinishExecution(for: self, error: ExternalStoreError.operationCancelled)
        return false
      }
      do {
        try await drain()
      } catch {
        await delegate?.didFinishExecution(for: self, error: error)
        throw error
      }
      await delegate?.didFinishExecution(for: self, error: nil)
      return true
    }
  }

  /// Delivers pending changes and then each new change, until the task is cancelled. Failed batches are retried after
  /// pauses that grow to a minute.
  ///
  /// - Throws: `StoreError` if the record cannot be read.
  public func observe() async throws {
    try await Observation.run(on: store, clock: clock) { try await execute() }
  }

  /// Forgets the position, so that everything is delivered again.
  public func reset() async throws {
    try await turnstile.pass { _ = try await store.removeConsumer(name) }
  }

  private func drain() async throws {
    var filter = queryPredicate
    filter.types = [healthKitObjectType]
    let externalStore = synchronizer.externalStore
    // An unreadable receipt counts as none.
    let receipt = try await externalStore.receipt(of: externalObjectType).flatMap {
      try? JSONDecoder().decode(ConsumerReceipt.self, from: $0)
    }
    let consumer = try await store.consumer(name, filter: filter, receipt: receipt)
    let size = await delegate?.batchSize(for: self) ?? Self.defaultBatchSize
    for try await page in consumer.pages(ofAtMost: max(1, size)) {
      if page.startsOver { try await externalStore.forgetObjects(of: externalObjectType) }
      try await synchronizer.synchronize(objects: try page.additions(), deletedObjects: page.deletions)
      try await externalStore.keepReceipt(try JSONEncoder().encode(page.receipt), of: externalObjectType)
      try await consumer.commit(page)
    }
    try Task.checkCancellation()
  }
}
