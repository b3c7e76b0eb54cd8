import Foundation
import HealthModel

/// A type that delivers a batch of changes of one sample type to an external store: first deletions, then additions,
/// then updates.
///
/// Managers create a ``TypeSynchronizer``. A custom type can add work before and after a batch
/// (``willSynchronize(objects:deletedObjects:)``, ``willFinishSynchronizing(after:)``) or replace the
/// synchronization.
public protocol ObjectSynchronizer: Sendable {
  /// The type that creates objects from samples.
  var externalObjectType: any ExternalObject.Type { get }
  /// The external store.
  var externalStore: any ExternalStore { get }
  /// The converter passed to the object type, or `nil` for none.
  var converter: (any ExternalObjectConverter)? { get }

  /// Called before anything is delivered. An error ends the batch. The default implementation does nothing.
  func willSynchronize(objects: [Sample], deletedObjects: [Tombstone]) async throws

  /// Called after the batch, even if it failed. The default implementation does nothing.
  func willFinishSynchronizing(after error: (any Error)?) async

  /// Delivers a batch. If it throws, the batch is delivered again.
  func synchronize(objects: [Sample], deletedObjects: [Tombstone]) async throws
}

extension ObjectSynchronizer {
  /// Does nothing.
  public func willSynchronize(objects: [Sample], deletedObjects: [Tombstone]) async throws {}
  /// Does nothing.
  public func willFinishSynchronizing(after error: (any Error)?) async {}

  /// Deletes the existing objects of deleted samples, then adds new objects and updates existing ones.
  public func synchronize(objects: [Sample], deletedObjects: [Tombstone]) async throws {
    do {
      try await willSynchronize(objects: objects, deletedObjects: deletedObjects)
      try await delete(deletedObjects)
      try await addOrUpdate(objects)
    } catch {
      await willFinishSynchronizing(after: error)
      throw error
    }
    await willFinishSynchronizing(after: nil)
  }

  private func delete(_ deletedObjects: [Tombstone]) async throws {
    let objects = try deletedObjects.compactMap { tombstone -> (any ExternalObject)? in
      try externalObjectType.externalObject(deletedObject: tombstone, converter: converter)
    }
    if objects.isEmpty { return }
    let found = try await externalStore.fetchObjects(with: objects)
    if !found.isEmpty { try await externalStore.delete(deletedObjects: found) }
  }

  private func addOrUpdate(_ samples: [Sample]) async throws {
    var objects: [(sample: Sample, object: any ExternalObject)] = []
    for sample in samples {
      guard let object = try externalObjectType.externalObject(object: sample, converter: converter) else { continue }
      objects.append((sample, object))
    }
    if objects.isEmpty { return }
    let found = Dictionary(try await externalStore.fetchObjects(with: objects.map(\.object)).map { ($0.uuid, $0) }) {
      first, _ in first
    }
    var (new, changed): ([any ExternalObject], [any ExternalObject]) = ([], [])
    // A store may have two samples of one UUID, of which an external store has one object.
    var places: [UUID: Int] = [:]
    for (sample, object) in objects {
      if let place = places[object.uuid] {
        try new[place].update(with: sample)
        continue
      }
      guard var known = found[object.uuid] else {
        places[object.uuid] = new.count
        new.append(object)
        continue
      }
      try known.update(with: sample)
      changed.append(known)
    }
    if !new.isEmpty { try await externalStore.add(objects: new) }
    if !changed.isEmpty { try await externalStore.update(objects: changed) }
  }
}

/// A synchronizer without additional work.
public struct TypeSynchronizer: ObjectSynchronizer {
  /// The type that creates objects from samples.
  public let externalObjectType: any ExternalObject.Type
  /// The external store.
  public let externalStore: any ExternalStore
  /// The converter passed to the object type, or `nil` for none.
  public let converter: (any ExternalObjectConverter)?

  /// Creates a synchronizer.
  ///
  /// - Parameter converter: for object types that do not store samples directly.
  public init(
    externalObjectType: any ExternalObject.Type, externalStore: any ExternalStore,
    converter: (any ExternalObjectConverter)? = nil
  ) {
    self.externalObjectType = externalObjectType
    self.externalStore = externalStore
    self.converter = converter
  }
}
