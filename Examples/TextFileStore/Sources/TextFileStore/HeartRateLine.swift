import ExternalStores
import Foundation
import HealthModel

/// A heart rate as a line of text: `8C1F… 2024-06-15T10:00:00Z 64`.
struct HeartRateLine: ExternalObject {
  let uuid: UUID
  var text = ""

  var line: String { "\(uuid.uuidString) \(text)" }

  init(uuid: UUID) { self.uuid = uuid }

  /// Parses a line. Returns `nil` if it has no UUID.
  init?(_ line: Substring) {
    let parts = line.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let uuid = UUID(uuidString: String(parts[0])) else { return nil }
    self.uuid = uuid
    text = String(parts[1])
  }

  static func healthKitObjectType() -> SampleType? { SampleType("HKQuantityTypeIdentifierHeartRate") }

  static func externalObject(object: Sample, converter: (any ExternalObjectConverter)?) -> HeartRateLine? {
    var line = HeartRateLine(uuid: object.uuid)
    line.update(with: object)
    return line
  }

  static func externalObject(deletedObject: Tombstone, converter: (any ExternalObjectConverter)?) -> HeartRateLine? {
    HeartRateLine(uuid: deletedObject.sample.uuid)
  }

  mutating func update(with object: Sample) {
    guard case .quantity(let quantity) = object.payload else { return }
    text = "\(object.start.iso8601) \(quantity.value)"
  }
}
