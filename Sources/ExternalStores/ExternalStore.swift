import Foundation

/// A store of another program that is kept in sync with a record: a database, a server, a file. The program that
/// connects it conforms to this protocol.
///
/// A batch is delivered again if one of these functions throws or the process ends in between. Objects that already
/// exist are then found with ``fetchObjects(with:)`` and updated, so there are no duplicates.
public protocol ExternalStore: Sendable {
  /// The permanent name of the store's positions in the record. Each store needs a different name.
  var name: String { get }

  /// Returns the existing objects in the store that correspond to the given ones, as they are in the store.
  func fetchObjects(with objects: [any ExternalObject]) async throws -> [any ExternalObject]

  /// Adds objects that do not exist in the store.
  func add(objects: [any ExternalObject]) async throws

  /// Replaces objects that exist in the store.
  func update(objects: [any ExternalObject]) async throws

  /// Deletes objects that exist in the store.
  func delete(deletedObjects: [any ExternalObject]) async throws

  /// Removes all objects of a type because the record has been replaced, for example by restoring an earlier copy of
  /// its file. The entire record is delivered afterwards.
  ///
  /// Detecting this requires a receipt (``keepReceipt(_:of:)``). The default implementation removes nothing: objects
  /// that are delivered again are updated, and objects that only the previous record had stay.
  func forgetObjects(of type: any ExternalObject.Type) async throws

  /// Returns the data last given to ``keepReceipt(_:of:)`` for this type, or `nil` if the store keeps none.
  func receipt(of type: any ExternalObject.Type) async throws -> Data?

  /// Stores a receipt of some hundred bytes beside the objects, after each batch. It allows the record and the
  /// external store to be compared after either was restored from a copy. The default implementation stores nothing,
  /// and a restored record continues from the position in its copy.
  func keepReceipt(_ receipt: Data, of type: any ExternalObject.Type) async throws
}

extension ExternalStore {
  /// Does nothing.
  public func forgetObjects(of type: any ExternalObject.Type) async throws {}
  /// Returns `nil`.
  public func receipt(of type: any ExternalObject.Type) async throws -> Data? { nil }
  /// Does nothing.
  public func keepReceipt(_ receipt: Data, of type: any ExternalObject.Type) async throws {}
}

/// The reason why changes were not delivered.
public enum ExternalStoreError: Error, Hashable, Sendable {
  /// The converter does not support this kind of sample.
  case notSupported
  /// The delegate did not allow the execution.
  case operationCancelled
  /// An ``ExternalObject`` type names no sample type.
  case noSpecifiedTypes
}

extension ExternalStoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notSupported: "The converter makes nothing of samples of this kind."
    case .operationCancelled: "The delegate did not let it run."
    case .noSpecifiedTypes: "The external object names no type of samples."
    }
  }
}
