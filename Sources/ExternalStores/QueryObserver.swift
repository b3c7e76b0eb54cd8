import Foundation
import HealthModel
import HealthStore
import OperatingSystem

/// Keeps one type of samples in step in one external store. The record keeps its position, and takes note of a batch only
/// when the external store has all of it.
///
/// ```swift
/// func follow(_ store: HealthStore, to synchronizer: some ObjectSynchronizer) async throws {
///   let observer = try QueryObserver(store: store, synchronizer: synchronizer)
///   try await observer.execute()  // what is new
///   try await observer.observe()  // and what happens, until the task is cancelled
/// }
/// ```
public struct QueryObserver: Sendable {
  /// The most changes of a batch where nobody says another number.
  public static let defaultBatchSize = 25

  /// Makes objects of samples.
  public let externalObjectType: any ExternalObject.Type
  /// The type of samples that is followed.
  public let healthKitObjectType: SampleType
  /// Which of them.
  public let queryPredicate: SampleFilter
  /// What this observer's position in the record is called: two observers of one name are one.
  public var name: String { "external:\(synchronizer.externalStore.name):\(healthKitObjectType.rawValue)" }

  private let store: HealthStore
  private let synchronizer: any ObjectSynchronizer
  private let delegate: (any QueryObserverDelegate)?
  private let clock: any Clock<Duration>
  private let turnstile = Turnstile()

  /// - Parameters:
  ///   - queryPredicate: narrows what is followed, by time and source. Another than last time: what it adds is passed on,
  ///     what it excludes stays.
  ///   - clock: on which a failed batch waits for its next attempt.
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

  /// When something was passed on last; `nil` where nothing ever was.
  public var lastSuccessfulExecutionDate: Date? {
    get async throws(StoreError) {
      let name = name
      guard let position = try await store.consumers().first(where: { $0.name == name }), position.anchor != .zero
      else { return nil }
      return Date(timeIntervalSince1970: Double(position.updated.microseconds) / 1_000_000)
    }
  }

  /// Passes on what is new, batch by batch. One at a time does: a second call waits for the first, and takes what came after.
  ///
  /// - Returns: false where the delegate did not let it.
  /// - Throws: what the synchronizer or the store throws. What was passed on before stays, and the rest comes next time.
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

  /// Passes on what is new and then what happens, until the task is cancelled. What fails is tried again, after pauses that
  /// grow to a minute.
  ///
  /// - Throws: `StoreError` where the record cannot be read.
  public func observe() async throws {
    try await Observation.run(on: store, clock: clock) { try await execute() }
  }

  /// Forgets the position: everything is passed on again.
  public func reset() async throws {
    try await turnstile.pass { _ = try await store.removeConsumer(name) }
  }

  private func drain() async throws {
    var filter = queryPredicate
    filter.types = [healthKitObjectType]
    let externalStore = synchronizer.externalStore
    // One that cannot be read says nothing.
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
