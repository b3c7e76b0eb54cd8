import Foundation
import HealthModel

/// An object in an external store that represents a sample of one type: a row, a document, an entry. The program that
/// connects the store conforms to this protocol.
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
  /// The UUID of the sample. Objects with equal UUIDs are the same object.
  var uuid: UUID { get }

  /// Returns the type of samples that these objects represent. A manager does not accept object types that return
  /// `nil`.
  static func healthKitObjectType() -> SampleType?

  /// Returns the object of a sample, or `nil` to leave it out.
  static func externalObject(object: Sample, converter: (any ExternalObjectConverter)?) throws -> Self?

  /// Returns an object that identifies the object of a deleted sample, or `nil` to leave that unchanged. Only the
  /// sample's reference is still known.
  static func externalObject(deletedObject: Tombstone, converter: (any ExternalObjectConverter)?) throws -> Self?

  /// Updates an existing object of the external store with the content of the sample.
  mutating func update(with object: Sample) throws
}

/// A converter of samples to another form, such as FHIR resources, for objects that contain it.
public protocol ExternalObjectConverter: Sendable {
  /// Returns the converted sample.
  ///
  /// - Throws: ``ExternalStoreError/notSupported`` if it does not support such a sample or result.
  func convert<Result>(object: Sample) throws -> Result
  /// Returns the converted deletion.
  ///
  /// - Throws: ``ExternalStoreError/notSupported`` if it does not support such a deletion or result.
  func convert<Result>(deletedObject: Tombstone) throws -> Result
}
