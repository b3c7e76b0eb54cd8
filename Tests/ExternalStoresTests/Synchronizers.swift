import ExternalStores
import HealthModel
import Synchronization

/// A store that forwards the first addition and then reports that it failed.
final class LosingStore: ExternalStore {
  struct Lost: Error {}

  private let store: ScriptedStore
  private let isLost = Mutex(false)
  var name: String { store.name }

  init(_ store: ScriptedStore) { self.store = store }

  func fetchObjects(with objects: [any ExternalObject]) async throws -> [any ExternalObject] {
    try await store.fetchObjects(with: objects)
  }

  func add(objects: [any ExternalObject]) async throws {
    try await store.add(objects: objects)
    let loses = isLost.withLock { isLost in
      defer { isLost = true }
      return !isLost
    }
    if loses { throw Lost() }
  }

  func update(objects: [any ExternalObject]) async throws { try await store.update(objects: objects) }
  func delete(deletedObjects: [any ExternalObject]) async throws {
    try await store.delete(deletedObjects: deletedObjects)
  }
}

/// A synchronizer that records the batches it is told about.
final class HookedSynchronizer: ObjectSynchronizer {
  let externalObjectType: any ExternalObject.Type = StepRow.self
  let externalStore: any ExternalStore
  let converter: (any ExternalObjectConverter)? = nil
  private let state = Mutex([String]())
  var told: [String] { state.withLock(\.self) }

  init(_ store: ScriptedStore) { externalStore = store }

  func willSynchronize(objects: [Sample], deletedObjects: [Tombstone]) {
    state.withLock { $0.append("will \(objects.count) \(deletedObjects.count)") }
  }

  func willFinishSynchronizing(after error: (any Error)?) {
    state.withLock { $0.append(error.map { "did \($0)" } ?? "did") }
  }
}
