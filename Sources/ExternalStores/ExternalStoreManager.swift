import HealthModel
import HealthStore

/// Keeps external stores in step with a record: an observer for each type of objects and each store.
///
/// ```swift
/// func keepInStep(_ record: HealthStore, _ type: any ExternalObject.Type, in database: some ExternalStore) async throws {
///   let manager = ExternalStoreManager(store: record)
///   try await manager.addObjectTypes([type], externalStore: database)
///   try await manager.observe()  // until the task is cancelled
/// }
/// ```
public actor ExternalStoreManager {
  /// In the order in which they were added.
  public private(set) var allObservers: [QueryObserver] = []

  private let store: HealthStore
  private let converter: (any ExternalObjectConverter)?
  private let delegate: (any QueryObserverDelegate)?
  private let clock: any Clock<Duration>
  private var observation: Task<Void, any Error>?

  /// - Parameters:
  ///   - store: the record.
  ///   - converter: that object types are handed; one for all.
  ///   - observerDelegate: of all observers.
  public init(
    store: HealthStore, converter: (any ExternalObjectConverter)? = nil,
    observerDelegate: (any QueryObserverDelegate)? = nil, clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.store = store
    self.converter = converter
    delegate = observerDelegate
    self.clock = clock
  }

  /// Adds an observer for each type that this store has none for yet.
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

  /// The same for synchronizers of one's own.
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

  /// Observes for all, until the task is cancelled. Observers that are added later are not among them.
  ///
  /// - Throws: `StoreError` where the record cannot be read.
  public func observe() async throws {
    let observers = allObservers
    try await withThrowingTaskGroup(of: Void.self) { group in
      for observer in observers { group.addTask { try await observer.observe() } }
      try await group.waitForAll()
    }
  }

  /// Passes on what is new, of all types at once. Throws the first error once all have ended.
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

  /// Observes until ``stopObserving()``, for programs that have no task to do it in (``observe()``).
  public func startObserving() {
    if observation == nil { observation = Task { try await observe() } }
  }

  /// Ends what ``startObserving()`` began, and returns when nothing is passed on any more. Positions stay.
  ///
  /// - Throws: what ended it before, if anything did.
  public func stopObserving() async throws {
    guard let observation else { return }
    self.observation = nil
    observation.cancel()
    do {
      try await observation.value
    } catch is CancellationError {}
  }

  /// The names of those who have recorded samples of the type that is followed. Throws `StoreError`.
  public func sources(for observer: QueryObserver) async throws -> Set<String> {
    let type = observer.healthKitObjectType
    return try await store.samples.numbers { reader in Set(try reader.sources(of: type).map(\.source.name)) }
  }
}
