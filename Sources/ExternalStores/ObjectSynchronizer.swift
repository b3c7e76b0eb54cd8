import Foundation
import HealthModel

/// Passes a batch of changes of one type on to one external store: deletions first, then what is new, then what has changed.
///
/// ``TypeSynchronizer`` is the one that managers make. Another one may do more before and after
/// (``willSynchronize(objects:deletedObjects:)``, ``willFinishSynchronizing(after:)``), or all of it otherwise.
public protocol ObjectSynchronizer: Sendable {
  /// Makes objects of samples.
  var externalObjectType: any ExternalObject.Type { get }
  /// What is kept in step.
  var externalStore: any ExternalStore { get }
  /// Handed to the object type; `nil` for none.
  var converter: (any ExternalObjectConverter)? { get }

  /// Before anything is passed on. Nothing by default; what it throws ends the batch.
  func willSynchronize(objects: [Sample], deletedObjects: [Tombstone]) async throws

  /// After everything, also where it failed. Nothing by default.
  func willFinishSynchronizing(after error: (any Error)?) async

  /// Passes a batch on. What it throws says that the batch is to come again.
  func synchronize(objects: [Sample], deletedObjects: [Tombstone]) async throws
}

extension ObjectSynchronizer {
  /// Does nothing.
  public func willSynchronize(objects: [Sample], deletedObjects: [Tombstone]) async throws {}
  /// Does nothing.
  public func willFinishSynchronizing(after error: (any Error)?) async {}

  /// Deletes what the external store has of what was deleted, and then adds what it has not and updates what it has.
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

/// Passes changes on and does nothing else.
public struct TypeSynchronizer: ObjectSynchronizer {
  /// Makes objects of samples.
  public let externalObjectType: any ExternalObject.Type
  /// What is kept in step.
  public let externalStore: any ExternalStore
  /// Handed to the object type; `nil` for none.
  public let converter: (any ExternalObjectConverter)?

  /// - Parameter converter: for object types that hold something else than samples.
  public init(
    externalObjectType: any ExternalObject.Type, externalStore: any ExternalStore,
    converter: (any ExternalObjectConverter)? = nil
  ) {
    self.externalObjectType = externalObjectType
    self.externalStore = externalStore
    self.converter = converter
  }
}
