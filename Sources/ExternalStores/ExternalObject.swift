import Foundation
import HealthModel

/// What samples of one type are in an external store: a row, a document, an entry. Written by whoever connects the store.
///
/// ```swift
/// struct HeartRateRow: ExternalObject {
///   let uuid: UUID
///   var beats: Double?
///
///   static func healthKitObjectType() -> SampleType? { SampleType("HKQuantityTypeIdentifierHeartRate") }
///
///   static func externalObject(object: Sample, converter: (any ExternalObjectConverter)?) -> HeartRateRow? {
///     guard case .quantity(let quantity) = object.payload else { return nil }
///     return HeartRateRow(uuid: object.uuid, beats: quantity.value)
///   }
///
///   static func externalObject(deletedObject: Tombstone, converter: (any ExternalObjectConverter)?) -> HeartRateRow? {
///     HeartRateRow(uuid: deletedObject.sample.uuid)
///   }
///
///   mutating func update(with object: Sample) {
///     if case .quantity(let quantity) = object.payload { beats = quantity.value }
///   }
/// }
/// ```
public protocol ExternalObject: Sendable {
  /// Of the sample: objects with the same one are the same.
  var uuid: UUID { get }

  /// The type of samples that these objects are of; `nil` for none, which no manager takes.
  static func healthKitObjectType() -> SampleType?

  /// The object of a sample; `nil` to leave it out.
  static func externalObject(object: Sample, converter: (any ExternalObjectConverter)?) throws -> Self?

  /// What the object of a deleted sample is known by; `nil` to leave it as it is. Nothing is known any more of the sample but
  /// its reference.
  static func externalObject(deletedObject: Tombstone, converter: (any ExternalObjectConverter)?) throws -> Self?

  /// Has an object that the external store has say what the sample says.
  mutating func update(with object: Sample) throws
}

/// Makes something else of samples, such as FHIR resources, for objects that hold it.
public protocol ExternalObjectConverter: Sendable {
  /// Throws ``ExternalStoreError/notSupported`` where it makes no such thing of such a sample.
  func convert<Result>(object: Sample) throws -> Result
  /// Likewise.
  func convert<Result>(deletedObject: Tombstone) throws -> Result
}
