import Foundation

/// A store of another program that is kept in step with a record: a database, a server, a file. The program that connects
/// it conforms to this.
///
/// A batch comes again when one of these functions has thrown, or the process ended in between. What it has then is
/// found with
/// ``fetchObjects(with:)`` and updated, so that nothing is there twice.
public protocol ExternalStore: Sendable {
  /// Names the store's positions in the record, for ever. Two stores have two names.
  var name: String { get }

  /// Of these objects those that the store has, as it has them.
  func fetchObjects(with objects: [any ExternalObject]) async throws -> [any ExternalObject]

  /// Adds objects that the store has not.
  func add(objects: [any ExternalObject]) async throws

  /// Replaces objects that the store has.
  func update(objects: [any ExternalObject]) async throws

  /// Deletes objects that the store has.
  func delete(deletedObjects: [any ExternalObject]) async throws

  /// Forgets all objects of a type: the record is another than before, and all that it has follows.
  ///
  /// It is, when a copy of its file was put back. To be seen, that needs a receipt (``keepReceipt(_:of:)``). By default
  /// nothing is forgotten: what follows is updated, and what only the other record had stays.
  func forgetObjects(of type: any ExternalObject.Type) async throws

  /// What ``keepReceipt(_:of:)`` was given last for this type; `nil` where it keeps none.
  func receipt(of type: any ExternalObject.Type) async throws -> Data?

  /// Keeps some hundred bytes beside the objects, after each batch: what the record and the external store are held
  /// against each other by, when one of them was put back from a copy. By default nothing is kept, and a record that
  /// was put back goes on from where its copy was.
  func keepReceipt(_ receipt: Data, of type: any ExternalObject.Type) async throws
}

extension ExternalStore {
  /// Forgets nothing.
  public func forgetObjects(of type: any ExternalObject.Type) async throws {}
  /// None.
  public func receipt(of type: any ExternalObject.Type) async throws -> Data? { nil }
  /// Keeps nothing.
  public func keepReceipt(_ receipt: Data, of type: any ExternalObject.Type) async throws {}
}

/// Why something was not passed on.
public enum ExternalStoreError: Error, Hashable, Sendable {
  /// A converter does not know this kind of sample.
  case notSupported
  /// The delegate has said that it shall not be.
  case operationCancelled
  /// An ``ExternalObject`` names no type of samples.
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
