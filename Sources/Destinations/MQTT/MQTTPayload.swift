import Foundation
import HealthModel

/// The payload of a value's topic: `{"anchor":"…","end":"…","source":"Watch","start":"…","unit":"bpm","value":61}`.
enum MQTTPayload {
  /// Encodes a value.
  ///
  /// - Parameter anchor: the key of the delivery that contains the value.
  static func bytes(_ value: CurrentValue, as entity: HomeAssistantEntity, anchor: DeliveryKey) throws -> [UInt8] {
    var members = value.details.mapValues(number)
    members["value"] =
      switch value.content {
      case .number(let found): number(entity.state(found))
      case .text(let text): .string(text)
      }
    members["unit"] = entity.unit.map(JSONValue.string) ?? value.unit.map(JSONValue.string)
    members["start"] = .string(value.start.iso8601)
    members["end"] = .string(value.end.iso8601)
    members["source"] = value.source.map(JSONValue.string)
    members["anchor"] = .string(anchor.description)
    return Array(try CanonicalJSON.encode(JSONValue.object(members)).utf8)
  }

  private static func number(_ value: Double) -> JSONValue {
    let rounded = HomeAssistantEntity.withoutBinaryNoise(value)
    return Int64(exactly: rounded).map(JSONValue.integer) ?? .number(rounded)
  }
}

/// The retained message of `hpeer/ada/delivery`: the record that the values beside it belong to, and their last
/// delivery. If a broker lacks it or has a different one, it has lost values.
struct MQTTWitness: Codable, Hashable, Sendable {
  /// The key of the delivery.
  var anchor: String
  /// The identifier of the store.
  var record: String

  init(_ delivery: String, of record: String) { (anchor, self.record) = (delivery, record) }

  /// Parses a message, or returns `nil` if it is invalid.
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
