import HealthModel
import HealthStore

/// A manager that keeps external stores in sync with a record, with an observer for each object type and store.
///
/// ```swift
/// func keepInStep(_ record: HealthStore, _ type: any ExternalObject.Type, in database: some ExternalStore) async throws {
///   let manager = ExternalStoreManager(store: record)
///   try await manager.addObjectTypes([type], externalStore: database)
///   try await manager.observe()  // until the task is cancelled
/// }
/// ```
public actor ExternalStoreManager {
  /// The observers in the order in which they were added.
  public private(set) var allObservers: [QueryObserver] = []

  private let store: HealthStore
  private let converter: (any ExternalObjectConverter)?
  private let delegate: (any QueryObserverDelegate)?
  private let clock: any Clock<Duration>
  private var observation: Task<Void, any Error>?

  /// Creates a manager.
  ///
  /// - Parameters:
  ///   - store: the record.
  ///   - converter: the converter passed to all object types.
  ///   - observerDelegate: the delegate of all observers.
  public init(
    store: HealthStore, converter: (any ExternalObjectConverter)? = nil,
    observerDelegate: (any QueryObserverDelegate)? = nil, clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.store = store
    self.converter = converter
    delegate = observerDelegate
    self.clock = clock
  }

  /// Adds an observer for each type that has none for this store yet.
  ///
  /// - Throws: ``ExternalStoreError/noSpecifiedTypes``, and adds none.
  public func addObjectTypes(
    _ objectTypes: [any ExternalObject.Type], externalStore: any ExternalStore
  ) throws(ExternalStoreError) {
    try addSynchronizers(
      objectTypes.map {
        TypeSynchronizer(externalObjectType: $0, externalStore: externalStore, converter: converter)
      })
  }

  /// Adds an observer for each custom synchronizer whose type and store have none yet.
  ///
  /// - Parameter queryPredicate: see ``QueryObserver/queryPredicate``.
  public func addSynchronizers(
    _ synchronizers: [any ObjectSynchronizer], queryPredicate: SampleFilter = .everything
  ) throws(ExternalStoreError) {
    var added = allObservers
    for synchronizer in synchronizers {
      let observer = try QueryObserver(
        store: store, synchronizer: synchronizer, queryPredicate: queryPredicate, delegate: delegate, clock: clock)
      if !added.contains(where: { $0.name == observer.name }) { added.append(observer) }
    }
    allObservers = added
  }

  /// Runs all observers until the task is cancelled. Observers that are added later are not included.
  ///
  /// - Throws: `StoreError` if the record cannot be read.
  public func observe() async throws {
    let observers = allObservers
    try await withThrowingTaskGroup(of: Void.self) { group in
      for observer in observers { group.addTask { try await observer.observe() } }
      try await group.waitForAll()
    }
  }

  /// Delivers pending changes of all observers concurrently. Throws the first error after all have finished.
  public func execute() async throws {
    let observers = allObservers
    let errors = await withTaskGroup(of: (any Error)?.self) { group in
      for observer in observers {
        group.addTask {
          do {
            try await observer.execute()
            return nil
          } catch {
            return error
          }
        }
      }
      return await group.reduce(into: [any Error]()) { errors, error in if let error { errors.append(error) } }
    }
    if let error = errors.first { throw error }
  }

  /// Starts observing in the background until ``stopObserving()`` is called. In an existing task, use ``observe()``.
  public func startObserving() {
    if observation == nil { observation = Task { try await observe() } }
  }

  /// Stops the observation that ``startObserving()`` began, and returns when nothing is being delivered any more.
  /// Positions are kept.
  ///
  /// - Throws: the error that ended the observation earlier, if any.
  public func stopObserving() async throws {
    guard let observation else { return }
    self.observation = nil
    observation.cancel()
    do {
      try await observation.value
    } catch is CancellationError {}
  }

  /// Returns the names of the sources that have recorded samples of the observed type.
  ///
  /// - Throws: `StoreError`.
  public func sources(for observer: QueryObserver) async throws -> Set<String> {
    let type = observer.healthKitObjectType
    return try await store.samples.numbers { reader in Set(try reader.sources(of: type).map(\.source.name)) }
  }
}
