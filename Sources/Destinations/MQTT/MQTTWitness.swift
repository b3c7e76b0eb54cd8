import Foundation
import HealthModel

/// The retained message of `hpeer/ada/delivery`: the record that the values beside it belong to, and their last delivery.
/// A broker without it, or with another one, has lost values.
struct MQTTWitness: Codable, Hashable, Sendable {
  /// The key of the delivery.
  var anchor: String
  /// The identifier of the store.
  var record: String

  init(_ delivery: String, of record: String) { (anchor, self.record) = (delivery, record) }

  /// `nil` of what is none.
  init?(_ payload: [UInt8]) {
    guard payload.count <= 4_096, let witness = try? JSONDecoder().decode(Self.self, from: Data(payload)) else {
      return nil
    }
    self = witness
  }

  func message(at topic: String, _ quality: MQTTMessage.Quality) throws -> MQTTMessage {
    MQTTMessage(topic, Array(try CanonicalJSON.encode(["anchor": anchor, "record": record]).utf8), quality: quality)
  }
}
